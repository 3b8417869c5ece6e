import type { DueMessage, Geo, Lane, Marks, ThingLedger } from './ledger.ts'
import { between, chance } from './random.ts'

/** A write on its way to one thing. */
export interface PlannedWrite {
  readonly body: string
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
  readonly lane: Lane
  readonly value: string
  readonly geo?: Geo
  readonly datetime?: number
}

/** Milliseconds: explicit datetimes go on, or back, from here. */
const epoch = Date.UTC(2026, 0, 1)
const steadyKeys = ['count', 'object', 'list', 'clock', 'place', 'text'] as const

/** The value of a record carries its place in its lane, from which a subscriber sees what came before it. */
export function placeOf(lane: Lane, value: unknown): number {
  if (lane === '$geo') {
    const [long = Number.NaN, lat = Number.NaN] = (value as { coordinates?: number[] }).coordinates ?? []
    return Math.round(lat * longitudes + long * 100)
  }
  if (typeof value === 'number') return value
  if (typeof value === 'string') return Number.parseInt(value, 10)
  if (Array.isArray(value)) return Number(value[0])
  return Number((value as { n?: number } | null)?.n)
}

const longitudes = 18_000

/** Makes the next write of a thing, and notes in its ledger what is due for it. */
export function planWrite(thing: ThingLedger, habits: Habits, limit: number): PlannedWrite {
  const isSilent = habits.isSilent && chance(0.1)
  const isKept = isSilent || !(habits.isFleeting && chance(0.2))
  const sentAt = performance.now()
  const count = Math.min(limit, pickCount())
  const next = { ...thing.marks }
  const made = Array.from({ length: count }, () => {
    const record = isSilent
      ? newRecord('count', 'ordinary', thing.silent.length, habits)
      : newRecord(pickKey(habits), 'ordinary', next.ordinary++, habits)
    return isSilent ? { ...record, key: 'silent' } : record
  })
  // A state does not change with `store=false`.
  if (habits.hasMagic && isKept && !isSilent && count < limit) {
    const pick = Math.random()
    if (pick < 0.1) made.push(newRecord('$settings.n', '$settings', next.$settings++, habits))
    else if (pick < 0.2) made.push(newRecord('$geo', '$geo', next.$geo++, habits))
  }
  for (const record of made) {
    const due = dueOf(record, isKept, sentAt)
    if (isSilent) thing.silent.push(due)
    else thing.due[record.lane].push(due)
  }
  const text = `[${made.map(textOf).join(',')}]`
  if (!isSilent) thing.arrays.push({ text, isKept, sentAt })
  const isRepeated = chance(0.02)
  const options = [
    `"values":${text}`,
    ...(isKept ? [] : ['"store":false']),
    ...(isSilent ? ['"broadcast":false'] : []),
    ...(isRepeated ? [`"id":"${crypto.randomUUID()}"`] : []),
  ]
  return { body: `{${options.join(',')}}`, records: made.length, isRepeated, marks: thing.marks }
}

function pickCount(): number {
  if (chance(0.6)) return 1
  return chance(0.75) ? between(2, 5) : between(10, 20)
}

function pickKey({ isLate, padding }: Habits): string {
  if (isLate && chance(0.2)) return 'late'
  if (padding > 0) return 'text'
  return steadyKeys[between(0, steadyKeys.length - 1)] ?? 'count'
}

function newRecord(key: string, lane: Lane, n: number, { padding }: Habits): NewRecord {
  const record = { key, lane, value: String(n) }
  if (key === 'text') return { ...record, value: `"${n} ${'x'.repeat(padding)}"` }
  if (key === 'object') return { ...record, value: `{"n":${n},"on":true}` }
  if (key === 'list') return { ...record, value: `[${n},"on"]` }
  if (key === 'clock') return { ...record, datetime: epoch + n }
  if (key === 'late') return { ...record, datetime: epoch - n }
  if (key === 'place') return { ...record, geo: { lat: 41.5, long: (n % longitudes) / 100 } }
  if (key === '$geo') return { ...record, value: `[${(n % longitudes) / 100},${Math.floor(n / longitudes)}]` }
  return record
}

function dueOf({ key, lane, value, geo, datetime }: NewRecord, isKept: boolean, sentAt: number): DueMessage {
  const state = { $settings: `{"n":${value}}`, $geo: `{"type":"Point","coordinates":${value}}` }
  return {
    key: lane === 'ordinary' ? key : lane,
    value: lane === 'ordinary' ? value : state[lane],
    isKept,
    sentAt,
    ...(geo ? { geo } : {}),
    ...(datetime === undefined ? {} : { datetime: new Date(datetime).toISOString() }),
  }
}

/** In the order of members in which it is told on `v2/things/<id>`. */
function textOf({ key, value, geo, datetime }: NewRecord): string {
  const place = geo ? `"geo":${JSON.stringify(geo)},` : ''
  const time = datetime === undefined ? '' : `"datetime":"${digitsOf(datetime)}",`
  return `{"key":"${key}",${place}${time}"value":${value}}`
}

/** `YYYYMMDDHHmmssSSS`. */
function digitsOf(datetime: number): string {
  return new Date(datetime).toISOString().replace(/\D/g, '')
}
