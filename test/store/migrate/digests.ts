import { createHash } from 'node:crypto'
import type { RecordStore, Store } from '../../../src/store/contract.ts'
import { createLevelStore } from '../../../src/store/level/index.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { createRedisStore } from '../../../src/store/redis/index.ts'

export interface Digest {
  readonly count: number
  /** Over datetime, value and position of every record, in order. */
  readonly sha256: string
}

export interface Sides {
  /** Directory of the embedded store, which no process holds. */
  readonly location: string
  /** Of the Redis. */
  readonly url: string
  readonly thingId: string
}

const pageSize = 1_000
const storeTimeout = 60_000

/** By resource of the thing, on both sides, as the stores' own ports give them. */
export async function digestsOf({ location, url, thingId }: Sides) {
  const open = [
    await openStore(createLevelStore({ location }), { storeTimeout }),
    await openStore(createRedisStore({ url }), { storeTimeout }),
  ] as const
  try {
    const [embedded, moved] = await Promise.all([sideOf(open[0], thingId), sideOf(open[1], thingId)])
    return { embedded, moved }
  } finally {
    await Promise.all(open.map(store => store.close()))
  }
}

async function sideOf({ records }: Store, thingId: string): Promise<ReadonlyMap<string, Digest>> {
  const digests = new Map<string, Digest>()
  for (const key of await records.resources(thingId)) digests.set(key, await digestOf(records, thingId, key))
  return digests
}

async function digestOf(records: RecordStore, thingId: string, key: string): Promise<Digest> {
  const hash = createHash('sha256')
  let count = 0
  let cursor: string | undefined
  do {
    const query = { order: 'asc', limit: pageSize, ...(cursor !== undefined && { cursor }) } as const
    const page = await records.read(thingId, key, query)
    for (const { datetime, value, geo } of page?.records ?? []) {
      hash.update(`${JSON.stringify([datetime, value, geo?.lat, geo?.long])}\n`)
      count++
    }
    cursor = page?.next
  } while (cursor !== undefined)
  return { count, sha256: hash.digest('hex') }
}
