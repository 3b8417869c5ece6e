import type { Thing } from '../helpers/http-client.ts'
import type { Message } from '../helpers/mqtt-client.ts'
import type { VersionedWrite } from '../helpers/mqtt-versions.ts'

/** What is written to each thing, what is due for it, and what a message is of that. */

export function chance(probability: number): boolean {
  return Math.random() < probability
}

/** Whole, both ends included. */
export function between(least: number, most: number): number {
  return least + Math.floor(Math.random() * (most - least + 1))
}

/** Any of these. @throws RangeError if there are none */
export function pick<Item>(items: readonly Item[]): Item {
  const item = items[between(0, items.length - 1)]
  if (item === undefined) throw new RangeError('there is nothing to pick')
  return item
}

/**
 * What is delivered live of one thing in one order: the records of ordinary resources, the states of `$settings`, and those
 * of `$geo`, which follow the acks of their writes.
 */
export const valueLanes = ['ordinary', '$settings', '$geo'] as const
/** And `array`: the writes on `v2/things/<id>`. */
export type Lane = (typeof valueLanes)[number] | 'array'

/** A live message that is due. */
export interface Due {
  /** Empty of an array. */
  readonly key: string
  /** JSON text; of an array as it was written. */
  readonly value: string
  /** RFC 3339, if the sender gave it. */
  readonly datetime?: string
  /** Not of a `store=false` write: who is away does not miss it. */
  readonly isKept: boolean
}

/** How many messages of each lane are due. */
type Marks = Readonly<Record<Lane, number>>

/** What was written to one thing, in write order. */
export class ThingLedger {
  readonly place: number
  readonly thing: Thing
  readonly due: Readonly<Record<Lane, Due[]>> = { ordinary: [], $settings: [], $geo: [], array: [] }
  /** Of arrays by their texts, which differ since they carry places. */
  readonly arrays = new Map<string, number>()
  /** Records of `broadcast=false` writes: nobody sees them but who subscribes later. */
  readonly silent: Due[] = []
  /** Everything before it was acked. */
  acked: Marks = { ordinary: 0, $settings: 0, $geo: 0, array: 0 }

  constructor(place: number, thing: Thing) {
    this.place = place
    this.thing = thing
  }

  get marks(): Marks {
    const { ordinary, $settings, $geo, array } = this.due
    return { ordinary: ordinary.length, $settings: $settings.length, $geo: $geo.length, array: array.length }
  }
}

export class Ledger {
  readonly things: readonly ThingLedger[]
  readonly #places = new Map<string, number>()

  constructor(things: readonly Thing[]) {
    this.things = things.map((thing, place) => new ThingLedger(place, thing))
    for (const { place, thing } of this.things) {
      this.#places.set(thing.thingId, place)
      this.#places.set(thing.thingToken, place)
    }
  }

  /** @param ref thing id or token */
  find(ref: string): ThingLedger | undefined {
    return this.things[this.#places.get(ref) ?? -1]
  }
}

/** A write on its way to one thing. */
export interface PlannedWrite {
  /** As it is sent over HTTP and in 3.1.1, and in version 5. */
  readonly body: string
  readonly in5: VersionedWrite
  readonly records: number
  /** To be sent once more behind itself, with the same write id: that has no effect. */
  readonly isRepeated: boolean
  /** What is due of its thing once it is acked. */
  readonly marks: Marks
}

/** What some things do and others do not. */
export interface Habits {
  /** Writes `$settings.n` and `$geo`. */
  readonly hasMagic: boolean
  /** Writes with explicit datetimes that go back. */
  readonly isLate: boolean
  /** Some of its writes have `store=false`. */
  readonly isFleeting: boolean
  /** Some of its writes have `broadcast=false`. */
  readonly isSilent: boolean
  /** Characters that its texts are longer. */
  readonly padding: number
}

interface NewRecord {
  readonly key: string
  readonly lane: Exclude<Lane, 'array'>
  readonly value: string
  readonly datetime?: number
}

/** Milliseconds: explicit datetimes go on, or back, from here. */
const epoch = Date.UTC(2026, 0, 1)
const steadyKeys = ['count', 'clock', 'text'] as const
const longitudes = 18_000

/** Makes the next write of a thing, and notes in its ledger what is due for it. */
export function planWrite(thing: ThingLedger, habits: Habits, limit: number): PlannedWrite {
  const isSilent = habits.isSilent && chance(0.1)
  const isKept = isSilent || !(habits.isFleeting && chance(0.2))
  const next = { ...thing.marks }
  const many = chance(0.75) ? between(2, 5) : between(10, 20)
  const count = Math.min(limit, chance(0.6) ? 1 : many)
  const made = Array.from({ length: count }, () => {
    return isSilent
      ? { ...newRecord('count', 'ordinary', thing.silent.length, habits), key: 'silent' }
      : newRecord(pickKey(habits), 'ordinary', next.ordinary++, habits)
  })
  // A state does not change with `store=false`.
  if (habits.hasMagic && isKept && !isSilent && count < limit) {
    const roll = Math.random()
    if (roll < 0.1) made.push(newRecord('$settings.n', '$settings', next.$settings++, habits))
    else if (roll < 0.2) made.push(newRecord('$geo', '$geo', next.$geo++, habits))
  }
  for (const record of made) {
    const due = dueOf(record, isKept)
    if (isSilent) thing.silent.push(due)
    else thing.due[record.lane].push(due)
  }
  const value = `[${made.map(textOf).join(',')}]`
  if (!isSilent) thing.arrays.set(value, thing.due.array.push({ key: '', value, isKept }) - 1)
  const isRepeated = chance(0.02)
  const options = [
    `"values":${value}`,
    ...(isKept ? [] : ['"store":false']),
    ...(isSilent ? ['"broadcast":false'] : []),
  ]
  const bare = `{${options.join(',')}}`
  const common = { records: made.length, isRepeated, marks: thing.marks }
  if (!isRepeated) return { ...common, body: bare, in5: { body: bare } }
  const id = crypto.randomUUID()
  return { ...common, body: `{${[...options, `"id":"${id}"`].join(',')}}`, in5: { body: bare, id } }
}

function pickKey({ isLate, padding }: Habits): string {
  if (isLate && chance(0.2)) return 'late'
  return padding > 0 ? 'text' : pick(steadyKeys)
}

function newRecord(key: string, lane: NewRecord['lane'], n: number, { padding }: Habits): NewRecord {
  const record = { key, lane, value: String(n) }
  if (key === 'text') return { ...record, value: `"${n} ${'x'.repeat(padding)}"` }
  if (key === 'clock') return { ...record, datetime: epoch + n }
  if (key === 'late') return { ...record, datetime: epoch - n }
  if (key === '$geo') return { ...record, value: `[${(n % longitudes) / 100},${Math.floor(n / longitudes)}]` }
  return record
}

function dueOf({ key, lane, value, datetime }: NewRecord, isKept: boolean): Due {
  const state = { $settings: `{"n":${value}}`, $geo: `{"type":"Point","coordinates":${value}}` }
  return {
    key: lane === 'ordinary' ? key : lane,
    value: lane === 'ordinary' ? value : state[lane],
    isKept,
    ...(datetime === undefined ? {} : { datetime: new Date(datetime).toISOString() }),
  }
}

/** In the order of members in which it is delivered on `v2/things/<id>`. */
function textOf({ key, value, datetime }: NewRecord): string {
  // `YYYYMMDDHHmmssSSS`.
  const digits = datetime === undefined ? '' : new Date(datetime).toISOString().replace(/\D/g, '')
  return `{"key":"${key}",${digits && `"datetime":"${digits}",`}"value":${value}}`
}

/** The value of a record carries its place in its lane, from which a subscriber sees what came before it. */
function placeOf(lane: Lane, value: unknown): number {
  if (lane === '$geo') {
    const [long = Number.NaN, lat = Number.NaN] = (value as { coordinates?: number[] }).coordinates ?? []
    return Math.round(lat * longitudes + long * 100)
  }
  if (typeof value === 'number') return value
  if (typeof value === 'string') return Number.parseInt(value, 10)
  return Number((value as { n?: number } | null)?.n)
}

/**
 * What a subscriber may find wrong. `altered`: another key, value, datetime or topic than was written.
 * `unexpected`: what nobody wrote, or not for this subscriber. `retained`: RETAIN set where it may not be, or a retained
 * message that is missing, stale, or out of its place.
 */
export type FindingKind = 'lost' | 'doubled' | 'out of order' | 'altered' | 'unexpected' | 'retained'

/** What one subscriber found wrong, counted, with the first three of each kind. */
export class Findings {
  readonly #found = new Map<FindingKind, { count: number; first: string[] }>()

  add(kind: FindingKind, example: string, count = 1): void {
    const found = this.#found.get(kind) ?? { count: 0, first: [] }
    this.#found.set(kind, found)
    found.count += count
    if (found.first.length < 3) found.first.push(example)
  }

  get isEmpty(): boolean {
    return this.#found.size === 0
  }

  /** How many of this kind. */
  count(kind: FindingKind): number {
    return this.#found.get(kind)?.count ?? 0
  }

  /** Such as `lost: 2 (things 4 ordinary 17, …)`. */
  toString(): string {
    if (this.isEmpty) return 'as promised'
    return [...this.#found]
      .map(([kind, { count, first }]) => `${kind}: ${count} (${first.join(', ')})`)
      .join('; ')
  }
}

/** A live message that was found in the ledger. */
export interface Recognised {
  readonly thing: ThingLedger
  readonly lane: Lane
  readonly place: number
  readonly due: Due
}

/** Finds what was written for a message of a thing, and notes what is wrong with its content. */
export function recognise(ledger: Ledger, message: Message, findings: Findings): Recognised | undefined {
  const { topic } = message
  const text = message.payload.toString()
  const isArray = topic.startsWith('v2/')
  const [, first = '', second = ''] = topic.split('/', 3)
  const thing = ledger.find(isArray ? second : first)
  const key = isArray ? '' : topic.slice(topic.lastIndexOf('/') + 1)
  const lane = isArray ? 'array' : key === '$settings' || key === '$geo' ? key : 'ordinary'
  const record = isArray ? undefined : parse(text)
  const place = isArray ? (thing?.arrays.get(text) ?? -1) : record ? placeOf(lane, record.value) : -1
  const due = thing?.due[lane][place]
  if (!thing || !due) {
    findings.add('unexpected', `${topic} ${text.slice(0, 80)}`)
    return undefined
  }
  if (record && !(isAlike(record, due) && key === due.key))
    findings.add('altered', `${topic} ${text.slice(0, 120)}`)
  return { thing, lane, place, due }
}

interface LiveRecord {
  readonly key: string
  readonly value: unknown
  readonly datetime: string
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

function isAlike({ key, value, datetime }: LiveRecord, due: Due): boolean {
  return (
    key === due.key &&
    (typeof value === 'number' ? String(value) : JSON.stringify(value)) === due.value &&
    (due.datetime === undefined ? rfc3339.test(datetime) : datetime === due.datetime)
  )
}

function parse(text: string): LiveRecord | undefined {
  try {
    return JSON.parse(text) as LiveRecord
  } catch {
    return undefined
  }
}
