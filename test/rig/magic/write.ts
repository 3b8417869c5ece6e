import type { Thing } from '../../helpers/http-client.ts'
import { idIn, isAtQos, type PlannedWrite, type Way, type WriteKind, wayLetters } from '../writes.ts'

/** A record of a magic resource as its history is to show it. */
export interface KeptRecord {
  readonly key: string
  readonly value: unknown
  /** If the sender said it, milliseconds. */
  readonly datetime?: number
}

/** A write of the load with magic records; `values` are those of `$count`. */
export interface MagicWrite extends PlannedWrite {
  readonly kept: readonly KeptRecord[]
  /** Not a write, but a DELETE of the resource. */
  readonly removes?: string
}

/**
 * How a writer dates positions. `clocked`: with explicit datetimes, some of them late and some equal. `unclocked`: none,
 * but for late ones; a thing has at most one writer of these, beside which others only write late ones.
 */
export type Clock = 'clocked' | 'unclocked' | 'late'

export interface WriterSetup {
  readonly thing: Thing
  /** Place of the thing in the list of things. */
  readonly thingPlace: number
  /** Of the writer among all. */
  readonly place: number
  readonly clock: Clock
  /** `parts`: large settings, changed by writes that take several commits. `removals`: some writes are a DELETE. */
  readonly habit?: 'parts' | 'removals'
}

/** Explicit datetimes go on, or back, from here, milliseconds. */
const epoch = Date.UTC(2025, 0, 1)
/** Writers of one thing keep their datetimes apart by their place, and there are fewer of them. */
const writers = 32
const names = ['a', 'b', 'c']
// No letters: names are looked for in whatever is written.
const padding = '_'.repeat(48_000)

/**
 * What one writer writes. It has a member of the settings of its own, and datetimes of its own: so what becomes of the
 * writes of several is the same in whatever order they are committed, as long as those of each keep theirs.
 */
export class MagicWriter {
  readonly setup: WriterSetup
  #number = 0
  /** Next; without their names. */
  readonly #planned: MagicWrite[] = []
  #run = ''
  #writesParts = false
  #positions = 0
  #ticks = 0
  #lateTicks = 0

  constructor(setup: WriterSetup) {
    this.setup = setup
  }

  /** @param writesParts whether a writer with that habit is to have it */
  begin(run: string, writesParts: boolean): void {
    this.#run = run
    this.#number = 0
    this.#writesParts = writesParts
  }

  next(way: Way): MagicWrite {
    const { habit } = this.setup
    const name = this.#nextName(way)
    const planned = this.#planned.shift()
    if (planned) return { ...planned, name }
    if (habit === 'removals' && Math.random() < 0.2) return this.#futile(name)
    const kind = kindOf(way)
    const isFleeting = Math.random() < 0.03
    const isQuiet = Math.random() < 0.05
    const isCounted = !isFleeting && !isQuiet && Math.random() < 0.7
    const records = Array.from({ length: 1 + Math.floor(4 * Math.random() ** 2) }, () => this.#record(kind))
    if (habit === 'parts' && this.#writesParts && Math.random() < 0.5) records.push(...this.#manyParts(kind))
    const values = isCounted ? [`${name}-0`, ...(Math.random() < 0.2 ? [`${name}-1`] : [])] : []
    const counts = values.map(value => this.#dated(kind, '$count', value))
    records.splice(pick(records.length + 1), 0, ...counts)
    const write = this.#plan(name, way, kind, records, {
      ...(isFleeting && { store: false }),
      ...(isQuiet && { broadcast: false }),
    })
    return isFleeting ? { ...write, kept: [] } : write
  }

  /** A write behind all others of the run; makes large settings small again. */
  last(): MagicWrite {
    const name = this.#nextName('HTTP')
    const small = { key: `$settings.${this.#member}`, value: null }
    const count = { key: '$count', value: `${name}-0` }
    const kept = this.setup.habit === 'parts' ? [small, count] : [count]
    return this.#plan(name, 'HTTP', 'with an id', kept)
  }

  /** Of the settings. */
  get #member(): string {
    return `w${this.setup.place}`
  }

  #plan(
    name: string,
    way: Way,
    kind: WriteKind,
    kept: readonly KeptRecord[],
    options: object = {},
  ): MagicWrite {
    const sent = kept.map(({ datetime, ...record }) => ({
      ...record,
      ...(datetime !== undefined && { datetime: new Date(datetime).toISOString() }),
    }))
    const id = idIn(way, kind, name)
    const body = JSON.stringify({ values: sent, ...options, ...id.body })
    const values = kept.flatMap(({ key, value }) => (key === '$count' ? [String(value)] : []))
    const { thingPlace: thing } = this.setup
    return { name, way, thing, body, values, repeatable: kind !== 'plain', kept, ...id.write }
  }

  #nextName(way: Way): string {
    return `${this.#run}-${wayLetters[way]}-${this.setup.place}-${this.#number++}`
  }

  /** A write that changes no state, unless there is none; a removal is to follow, after which it must not. */
  #futile(name: string): MagicWrite {
    const removes = oneOf(['$geo', '$settings', `$settings.${this.#member}.${oneOf(names)}`])
    const removal = this.#plan(name, 'HTTP', 'with an id', [])
    this.#planned.push({ ...removal, body: '', removes })
    const late = { key: '$geo', value: { type: 'Point', coordinates: [1, 2] }, datetime: this.#lateDate() }
    return this.#plan(name, 'HTTP', 'with an id', [late, { key: '$settings', value: {} }])
  }

  #record(kind: WriteKind): KeptRecord {
    const roll = Math.random()
    if (roll < 0.4) return this.#position(kind)
    if (roll < 0.65) return this.#dated(kind, '$settings', { [this.#member]: { [oneOf(names)]: setting() } })
    return this.#dated(kind, `$settings.${this.#member}.${oneOf(names)}`, setting())
  }

  #position(kind: WriteKind): KeptRecord {
    // Equal ones at one datetime would be one record.
    const number = this.#positions++
    const long = ((number % 36_000) - 18_000) / 100 || 0
    const lat = (Math.floor(number / 36_000) * writers + this.setup.place) / 100
    const position = { key: '$geo', value: { type: 'Point', coordinates: [long, lat] } }
    const datetime = this.#dateOfPosition(kind)
    return datetime === undefined ? position : { ...position, datetime }
  }

  #dateOfPosition(kind: WriteKind): number | undefined {
    const { clock } = this.setup
    if (clock === 'unclocked' && kind !== 'with datetimes' && Math.random() < 0.8) return undefined
    if (clock !== 'clocked' || Math.random() < 0.2) return this.#lateDate()
    return Math.random() < 0.1 ? this.#dateAt(this.#ticks) : this.#nextDate()
  }

  #manyParts(kind: WriteKind): KeptRecord[] {
    const parts = Array.from({ length: 12 }, (_, index) => {
      return this.#dated(kind, `$settings.${this.#member}.part${index}`, Math.random())
    })
    const large = this.#dated(kind, '$settings', { [this.#member]: { padding } })
    // With the padding there is no room for it: the settings stay as they were.
    const tooLarge = this.#dated(kind, `$settings.${this.#member}.more`, '_'.repeat(20_000))
    return [large, ...parts, ...(Math.random() < 0.3 ? [tooLarge] : [])]
  }

  #dated(kind: WriteKind, key: string, value: unknown): KeptRecord {
    return kind === 'with datetimes' ? { key, value, datetime: this.#nextDate() } : { key, value }
  }

  #nextDate(): number {
    return this.#dateAt(++this.#ticks)
  }

  #lateDate(): number {
    return this.#dateAt(-++this.#lateTicks)
  }

  #dateAt(tick: number): number {
    return epoch + tick * writers + this.setup.place
  }
}

function kindOf(way: Way): WriteKind {
  const roll = Math.random()
  if (isAtQos(2, way) && roll < 0.4) return 'plain'
  return roll < 0.7 ? 'with an id' : 'with datetimes'
}

function setting(): number | null {
  return Math.random() < 0.3 ? null : pick(1_000_000)
}

function pick(count: number): number {
  return Math.floor(Math.random() * count)
}

function oneOf<T>(items: readonly T[]): T {
  return items[pick(items.length)] as T
}
