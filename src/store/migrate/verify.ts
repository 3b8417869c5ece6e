import { createHash } from 'node:crypto'
import type { Page, PageQuery } from '../contract.ts'
import { readPage as readSource } from '../level/reading/pages.ts'
import type { RedisDatabase } from '../redis/connection/database.ts'
import { readPage as readTarget } from '../redis/reading/pages.ts'
import { resourceNames } from '../redis/resources.ts'
import type { Move } from './stages.ts'
import {
  differs,
  verifyDocuments,
  verifyEmptied,
  verifyLog,
  verifyRefused,
  verifyStates,
  verifyWriteIds,
} from './verify-entries.ts'

/** Counts of the moved data, equal in both stores. */
export interface Verified {
  readonly records: number
  readonly resources: number
  readonly states: number
  readonly documents: number
  readonly commits: number
  readonly writeIds: number
  readonly refusedWrites: number
  /** SHA-256 of the digests of all resources: for each, a SHA-256 of the datetimes, values and geo positions of its records. */
  readonly digest: string
}

const pageSize = 1_000
const resourcesAtOnce = 8

/**
 * Reads both stores and compares them: for each resource, the number of records and a SHA-256 of their datetimes, values and
 * geo positions in order; for each thing, the resource names, including emptied resources; and each state, document, logged commit,
 * write id and refused write.
 *
 * @param onRecords called with the number of records that were read since the last call
 * @throws Error for the operator, which names the difference; ThingwireError store_unavailable
 */
export async function verify(
  move: Move,
  database: RedisDatabase,
  onRecords: (count: number) => void,
): Promise<Verified> {
  const records = await verifyRecords(move, database, onRecords)
  await verifyEmptied(move, database)
  return {
    ...records,
    states: await verifyStates(move, database),
    documents: await verifyDocuments(move, database),
    commits: await verifyLog(move, database),
    writeIds: await verifyWriteIds(move, database),
    refusedWrites: await verifyRefused(move, database),
  }
}

async function verifyRecords(
  { source }: Move,
  database: RedisDatabase,
  onRecords: (count: number) => void,
): Promise<Pick<Verified, 'records' | 'resources' | 'digest'>> {
  const all = createHash('sha256')
  const resources = [...source.resources]
  const names = new Map<string, string[]>()
  let records = 0
  for (let at = 0; at < resources.length; at += resourcesAtOnce) {
    const comparing = resources.slice(at, at + resourcesAtOnce).map(async ([number, { thingId, key }]) => {
      const [here, there] = await Promise.all([
        digestOf(query => readSource(source.database, number, key, query)),
        digestOf(query => readTarget(database, thingId, key, query), onRecords),
      ])
      if (here.count !== there.count || here.sha256 !== there.sha256) {
        differs(`resource ${key} of thing ${thingId}`, `${here.count} records`, `${there.count}`)
      }
      if (here.count > 0) {
        const ofThing = names.get(thingId) ?? []
        ofThing.push(key)
        names.set(thingId, ofThing)
      }
      return here
    })
    for (const { count, sha256 } of await Promise.all(comparing)) {
      records += count
      all.update(sha256)
    }
  }
  await verifyNames(names, database)
  return { records, resources: source.resources.size, digest: all.digest('hex') }
}

async function verifyNames(
  names: ReadonlyMap<string, readonly string[]>,
  database: RedisDatabase,
): Promise<void> {
  for (const [thingId, keys] of names) {
    const there = await resourceNames(database, thingId)
    if (there.join('\n') === keys.toSorted().join('\n')) continue
    differs(`the resources of thing ${thingId}`, `${keys.length}`, `${there.length}, or others`)
  }
}

async function digestOf(
  read: (query: PageQuery) => Promise<Page | undefined>,
  onRecords: (count: number) => void = () => {},
): Promise<{ count: number; sha256: string }> {
  const hash = createHash('sha256')
  let count = 0
  let page = await read({ order: 'asc', limit: pageSize })
  while (page) {
    const lines = page.records.map(({ datetime, value, geo }) => {
      return `${datetime} ${value} ${geo ? `${geo.lat},${geo.long}` : ''}\n`
    })
    hash.update(lines.join(''))
    count += lines.length
    onRecords(lines.length)
    const { next }: Page = page
    page = next === undefined ? undefined : await read({ order: 'asc', limit: pageSize, cursor: next })
  }
  return { count, sha256: hash.digest('hex') }
}
