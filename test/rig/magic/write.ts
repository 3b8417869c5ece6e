import type { Thing } from '../../helpers/http-client.ts'
import { type PlannedWrite, type Way, wayLetters } from '../writes.ts'

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

interface NewRecord {
  readonly sent: Readonly<Record<string, unknown>>
  /** undefined: refused. */
  readonly kept?: KeptRecord
}

type Kind = 'plain' | 'with datetimes' | 'with an id'

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
    const kind = pickKind(way)
    const isFleeting = Math.random() < 0.03
    const isQuiet = Math.random() < 0.05
    const isCounted = !isFleeting && !isQuiet && Math.random() < 0.7
    const isPartial = Math.random() < 0.1
    const records = Array.from({ length: 1 + Math.floor(4 * Math.random() ** 2) }, () => this.#record(kind))
    if (habit === 'parts' && this.#writesParts && Math.random() < 0.5) records.push(...this.#manyParts(kind))
    const values = isCounted ? [`${name}-0`, ...(Math.random() < 0.2 ? [`${name}-1`] : [])] : []
    const counts = values.map(value => this.#dated(kind, '$count', value))
    records.splice(pick(records.length + 1), 0, ...counts)
    if (isPartial) records.splice(pick(records.length + 1), 0, refusedRecord())
    const kept = records.flatMap(record => record.kept ?? [])
    const body = JSON.stringify({
      values: records.map(({ sent }) => sent),
      ...(isPartial && { partial: true }),
      ...(isFleeting && { store: false }),
      ...(isQuiet && { broadcast: false }),
      ...(kind === 'with an id' && { id: name }),
    })
    const { thingPlace: thing } = this.setup
    return { name, way, thing, body, values, repeatable: kind !== 'plain', kept: isFleeting ? [] : kept }
  }

  /** A write behind all others of the run; makes large settings small again. */
  last(): MagicWrite {
    const name = this.#nextName('HTTP')
    const { place, thingPlace: thing, habit } = this.setup
    const small = { key: `$settings.w${place}`, value: null }
    const kept = [...(habit === 'parts' ? [small] : []), { key: '$count', value: `${name}-0` }]
    const body = JSON.stringify({ values: kept, id: name })
    return { name, way: 'HTTP', thing, body, values: [`${name}-0`], repeatable: true, kept }
  }

  #nextName(way: Way): string {
    return `${this.#run}-${wayLetters[way]}-${this.setup.place}-${this.#number++}`
  }

  /** A write that changes no state, unless there is none; a removal is to follow, after which it must not. */
  #futile(name: string): MagicWrite {
    const { place, thingPlace: thing } = this.setup
    const path = oneOf(['', `.w${place}.${oneOf(names)}`])
    const removes = oneOf(['$geo', `$settings${path}`])
    const common = { name, way: 'HTTP', thing, values: [], repeatable: true } as const
    this.#planned.push({ ...common, body: '', kept: [], removes })
    const late = { key: '$geo', value: { type: 'Point', coordinates: [1, 2] }, datetime: this.#lateDate() }
    const kept = [late, { key: '$settings', value: {} }]
    const values = [{ ...late, datetime: textOf(late.datetime) }, kept[1]]
    return { ...common, body: JSON.stringify({ values, id: name }), kept }
  }

  #record(kind: Kind): NewRecord {
    const roll = Math.random()
    if (roll < 0.4) return this.#position(kind)
    return roll < 0.65 ? this.#patch(kind) : this.#path(kind)
  }

  #position(kind: Kind): NewRecord {
    const { place } = this.setup
    // Equal ones at one datetime would be one record.
    const number = this.#positions++
    const long = ((number % 36_000) - 18_000) / 100 || 0
    const lat = (Math.floor(number / 36_000) * writers + place) / 100
    const forms = [
      { value: { type: 'Point', coordinates: [long, lat] } },
      { value: [long, lat] },
      { value: [long, lat, 12.5] },
      { value: null, geo: { lat, long } },
      { value: [long, lat], geo: { lat: 0, long: 0 } },
    ]
    const value = { type: 'Point', coordinates: [long, lat] }
    const sent = { key: '$geo', ...oneOf(forms) }
    const datetime = this.#dateOfPosition(kind)
    if (datetime === undefined) return { sent, kept: { key: '$geo', value } }
    return { sent: { ...sent, datetime: textOf(datetime) }, kept: { key: '$geo', value, datetime } }
  }

  #dateOfPosition(kind: Kind): number | undefined {
    const { clock } = this.setup
    if (clock === 'unclocked' && kind !== 'with datetimes' && Math.random() < 0.8) return undefined
    if (clock !== 'clocked' || Math.random() < 0.2) return this.#lateDate()
    return Math.random() < 0.1 ? this.#dateAt(this.#ticks) : this.#nextDate()
  }

  /** A merge patch of the writer's own member. */
  #patch(kind: Kind): NewRecord {
    return this.#dated(kind, '$settings', { [`w${this.setup.place}`]: patchOf(2) })
  }

  #path(kind: Kind): NewRecord {
    const parts = Array.from({ length: pick(4) }, () => oneOf(names))
    const key = ['$settings', `w${this.setup.place}`, ...parts].join('.')
    return this.#dated(kind, key, Math.random() < 0.3 ? null : settingOf(1))
  }

  #manyParts(kind: Kind): NewRecord[] {
    const member = `w${this.setup.place}`
    const parts = Array.from({ length: 12 }, (_, index) => {
      return this.#dated(kind, `$settings.${member}.part${index}`, Math.random())
    })
    const large = this.#dated(kind, '$settings', { [member]: { padding } })
    // With the padding there is no room for it: the settings stay as they were.
    const tooLarge = this.#dated(kind, `$settings.${member}.more`, '_'.repeat(20_000))
    return [large, ...parts, ...(Math.random() < 0.3 ? [tooLarge] : [])]
  }

  #dated(kind: Kind, key: string, value: unknown): NewRecord {
    if (kind !== 'with datetimes') return { sent: { key, value }, kept: { key, value } }
    const datetime = this.#nextDate()
    return { sent: { key, value, datetime: textOf(datetime) }, kept: { key, value, datetime } }
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

function pickKind(way: Way): Kind {
  const roll = Math.random()
  if (way === 'QoS 2' && roll < 0.4) return 'plain'
  return roll < 0.7 ? 'with an id' : 'with datetimes'
}

function patchOf(depth: number): unknown {
  if (Math.random() < 0.15) return null
  if (depth === 0 || Math.random() < 0.2) return settingOf(0)
  return Object.fromEntries(names.filter(() => Math.random() < 0.5).map(name => [name, patchOf(depth - 1)]))
}

function settingOf(depth: number): unknown {
  const number = pick(1_000_000)
  const settings = [number, String(number), number % 2 === 0, [number, null, 'last'], {}]
  return depth > 0 && Math.random() < 0.3 ? { [oneOf(names)]: settingOf(0), n: null } : oneOf(settings)
}

function refusedRecord(): NewRecord {
  return oneOf([
    { sent: { key: '$geo', value: [2, 91] } },
    { sent: { key: '$settings', value: 5 } },
    { sent: { key: '$settings.__proto__', value: 5 } },
    { sent: { key: '$elsewhere', value: 5 } },
    { sent: { key: '$count', value: 5 } },
  ])
}

function textOf(datetime: number): string {
  return new Date(datetime).toISOString()
}

function pick(count: number): number {
  return Math.floor(Math.random() * count)
}

function oneOf<T>(items: readonly T[]): T {
  return items[pick(items.length)] as T
}
