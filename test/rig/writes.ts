import { type Version, type VersionedWrite, versionNames } from '../helpers/mqtt-versions.ts'

/** How a write goes to the server: its door and, over MQTT, its version and QoS. */
export type Way = 'HTTP' | `${(typeof versionNames)[Version]}, QoS ${1 | 2}`

/** A write of the load; each of its values occurs nowhere else. */
export interface PlannedWrite extends VersionedWrite {
  /** `<run>-<way>-<place>-<number>`, the beginning of each of its values. */
  readonly name: string
  readonly way: Way
  /** Place of its thing in the list of things. */
  readonly thing: number
  /** JSON, as it is sent. */
  readonly body: string
  readonly values: readonly string[]
  /** Has explicit datetimes or a write id: sent again, it is stored once (contract §4). */
  readonly repeatable: boolean
  /** Of a device of a source. Absent: the write topic of its thing. */
  readonly topic?: string
  readonly retain?: boolean
}

export interface Plan {
  /** First part of every value, lower case and digits, so that no two loads write the same. */
  readonly run: string
  readonly way: Way
  /** Of the connection among those of its way. */
  readonly place: number
  /** Of the write in the load. */
  readonly number: number
  readonly thing: number
  readonly sizes: Sizes
  /** Default: one of them by chance. */
  readonly kinds?: readonly WriteKind[]
}

/** What makes a write repeatable: nothing, explicit datetimes (some of them equal), or a write id. */
export const writeKinds = ['plain', 'with datetimes', 'with an id'] as const
export type WriteKind = (typeof writeKinds)[number]

/** How many records the writes have: one, or 1 to 50. */
export type Sizes = 'one' | 'mostly small' | 'any'

const maximumRecords = 50
const recordCounts: Record<Sizes, () => number> = {
  one: () => 1,
  'mostly small': () => 1 + Math.floor(maximumRecords * Math.random() ** 3),
  any: () => 1 + Math.floor(maximumRecords * Math.random()),
}
const keys = ['temperature', 'depth', 'status']
/** In the name of a write: over MQTT protocol level and QoS. */
export const wayLetters = {
  HTTP: 'h',
  'MQTT 3.1.1, QoS 1': '4q1',
  'MQTT 3.1.1, QoS 2': '4q2',
  'MQTT 5, QoS 1': '5q1',
  'MQTT 5, QoS 2': '5q2',
} as const satisfies Record<Way, string>
export const ways = Object.keys(wayLetters) as readonly Way[]
/** Part of a regular expression for names of writes. */
export const wayPattern = `(?:${Object.values(wayLetters).join('|')})`

export function wayIn(version: Version, qos: 1 | 2): Way {
  return `${versionNames[version]}, QoS ${qos}`
}

export function isAtQos(qos: 1 | 2, way: Way | undefined): boolean {
  return way?.endsWith(`QoS ${qos}`) === true
}

/** HTTP, or the version of MQTT. */
export function doorOf(way: Way): string {
  return way.replace(/,.*/, '')
}

/** Where a write has its id, if it is to have one: in the body, or beside it. */
export function idIn(way: Way, kind: WriteKind | undefined, id: string) {
  const isBeside = doorOf(way) === versionNames[5]
  const ids = kind === 'with an id' ? { id } : {}
  return { body: isBeside ? {} : ids, write: isBeside ? ids : {} }
}

export function planWrite(plan: Plan): PlannedWrite {
  const { run, way, place, number, thing, sizes } = plan
  const { kinds = writeKinds } = plan
  const kind = kinds[Math.floor(Math.random() * kinds.length)]
  const name = `${run}-${wayLetters[way]}-${place}-${number}`
  const values = Array.from({ length: recordCounts[sizes]() }, (_, index) => `${name}-${index}`)
  const now = Date.now()
  const records = values.map((value, index) => ({
    key: keys[index % keys.length],
    value,
    ...(kind === 'with datetimes' && { datetime: new Date(now - Math.floor(index / 6)).toISOString() }),
  }))
  const id = idIn(way, kind, name)
  const body = JSON.stringify({ values: records, ...id.body })
  return { name, way, thing, body, values, repeatable: kind !== 'plain', ...id.write }
}

const writeName = new RegExp(`([a-z]+\\d*-${wayPattern}-\\d+-\\d+)-\\d`, 'g')

/** The names of the writes of which there are values in a text. */
export function writeNamesIn(text: string): Set<string> {
  return new Set([...text.matchAll(writeName)].map(([, name = '']) => name))
}

/** The way of a write of this name. */
export function wayOf(name: string): Way | undefined {
  const [, letter] = name.split('-')
  return ways.find(way => wayLetters[way] === letter)
}
