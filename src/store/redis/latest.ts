import type { LatestOfThing, LatestQuery } from '../contract.ts'
import type { RedisDatabase } from './connection/database.ts'
import { readNewest } from './reading/pages.ts'
import { decodeState } from './record-member.ts'
import { Script } from './script.ts'

const latestScript = new Script('latest')

/** A resource by its names. In the order of thing ids, then keys, which are ASCII: by bytes, as Redis has them. */
export interface ResourceName {
  readonly thingId: string
  readonly key: string
}

/** What was found of some resources in a row. */
interface LatestPiece {
  /** Newest write number when it was read. */
  readonly newest: number
  /** As of the write number, but for what was put or removed behind it: those records are missing. */
  readonly found: readonly LatestOfThing[]
  /** Up to here every resource that the query selects was looked at; undefined: all were. */
  readonly end: ResourceName | undefined
}

/**
 * Reads on in what is latest as of a write number, behind the `end` of the piece before.
 *
 * @throws ThingwireError store_unavailable
 */
export async function readLatest(
  database: RedisDatabase,
  asOf: number,
  query: LatestQuery,
  after: ResourceName | undefined,
): Promise<LatestPiece> {
  const reply = await database.run(latestScript, asOf, ...selection(query, after))
  const [newest, names, thingId, key] = reply as unknown as readonly [
    number,
    readonly Buffer[],
    Buffer?,
    Buffer?,
  ]
  const found: LatestOfThing[] = []
  let newestOfAll = newest
  for (let at = 0; at + 2 < names.length; at += 3) {
    const name = { thingId: String(names[at]), key: String(names[at + 1]) }
    const state = names[at + 2]
    if (state && state.length > 0) {
      found.push({ ...name, record: decodeState(name.key, state) })
      continue
    }
    const { record, newest } = await readNewest(database, name.thingId, name.key, asOf)
    newestOfAll = Math.max(newestOfAll, newest)
    if (record) found.push({ ...name, record })
  }
  const end = thingId && key && { thingId: String(thingId), key: String(key) }
  return { newest: newestOfAll, found, end }
}

/** Whether the query selects the resource, and it is behind `after` and not behind `end`. */
export function isBetween(
  name: ResourceName,
  query: LatestQuery,
  after: ResourceName | undefined,
  end: ResourceName | undefined,
): boolean {
  return (
    (query.thingId ?? name.thingId) === name.thingId &&
    (query.key ?? name.key) === name.key &&
    (after === undefined || compare(name, after) > 0) &&
    (end === undefined || compare(name, end) <= 0)
  )
}

function compare(one: ResourceName, other: ResourceName): number {
  if (one.thingId !== other.thingId) return one.thingId < other.thingId ? -1 : 1
  if (one.key !== other.key) return one.key < other.key ? -1 : 1
  return 0
}

/** The query's selection and its start, as arguments of the script. */
function selection({ thingId, key }: LatestQuery, after: ResourceName | undefined): [string, string, string] {
  if (thingId !== undefined && key !== undefined) return ['resource', thingId, key]
  if (key !== undefined) return ['key', after?.thingId ?? '', key]
  if (thingId !== undefined) return ['thing', thingId, after?.key ?? '']
  return ['everything', after?.thingId ?? '', after?.key ?? '']
}
