import type { LatestOfThing, LatestQuery } from '../contract.ts'
import type { RedisDatabase } from './connection/database.ts'
import { readNewest } from './reading/pages.ts'
import { decodeState } from './record-member.ts'
import { Script } from './script.ts'

const latestScript = new Script('latest')

/** Resources are ordered by thing id, then by key. Both are ASCII, so this is the byte order that Redis uses. */
export interface ResourceName {
  readonly thingId: string
  readonly key: string
}

/**
 * Reads a piece of the states and latest records as of a write number, without those that were later replaced or removed.
 *
 * @param after `end` of the previous piece; undefined for the first piece
 * @returns also `newest`, the newest write number when the piece was read, and `end`, its last resource if more pieces follow
 * @throws ThingwireError store_unavailable
 */
export async function readLatest(
  database: RedisDatabase,
  asOf: number,
  query: LatestQuery,
  after: ResourceName | undefined,
) {
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
  const end: ResourceName | undefined = thingId && key && { thingId: String(thingId), key: String(key) }
  return { newest: newestOfAll, found, end }
}

/** Whether the query selects the resource and its name sorts after `after` (exclusive) and no later than `end` (inclusive). */
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

/** The arguments of latest.lua for the selected resources, and for the resource after which to begin. */
function selection({ thingId, key }: LatestQuery, after: ResourceName | undefined): [string, string, string] {
  if (thingId !== undefined && key !== undefined) return ['resource', thingId, key]
  if (key !== undefined) return ['key', after?.thingId ?? '', key]
  if (thingId !== undefined) return ['thing', thingId, after?.key ?? '']
  return ['everything', after?.thingId ?? '', after?.key ?? '']
}
