/** How a write goes to the server: its door and, over MQTT, its QoS. */
export type Way = 'HTTP' | 'QoS 1' | 'QoS 2'

/** A write of the load; each of its values occurs nowhere else. */
export interface PlannedWrite {
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
export const wayLetters = { HTTP: 'h', 'QoS 1': '1', 'QoS 2': '2' } as const satisfies Record<Way, string>

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
  const body = JSON.stringify({ values: records, ...(kind === 'with an id' && { id: name }) })
  return { name, way, thing, body, values, repeatable: kind !== 'plain' }
}

/** The names of the writes of which there are values in a text. */
export function writeNamesIn(text: string): Set<string> {
  return new Set([...text.matchAll(/([a-z]+\d*-[h12]-\d+-\d+)-\d/g)].map(([, name = '']) => name))
}

/** The way of a write of this name. */
export function wayOf(name: string): Way | undefined {
  const [, letter] = name.split('-')
  return (Object.keys(wayLetters) as Way[]).find(way => wayLetters[way] === letter)
}
