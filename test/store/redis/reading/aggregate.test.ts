import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { count } from '../../../../src/conformance/writes.ts'
import { averageOf } from '../../../../src/core/record/bucket-fold.ts'
import { utcBuckets } from '../../../../src/core/time/utc-buckets.ts'
import type { AggregateQuery } from '../../../../src/store/contract.ts'
import { redisKeys } from '../../../../src/store/redis/keys.ts'
import { aggregate } from '../../../../src/store/redis/reading/aggregate.ts'
import { encodeMember, encodePayload } from '../../../../src/store/redis/record-member.ts'
import { redisOfTests } from '../../../helpers/redis-of-test.ts'
import { Interrupted } from '../interrupted.ts'

const redis = redisOfTests()

const [thing, key] = ['abcdefghijklmnop', 'temperature']

let database: Interrupted
let pieces: number

/** What a commit leaves of records of one resource, whose value is 1. */
async function put(writeNumber: number, datetimes: readonly number[]): Promise<void> {
  const { keys } = database
  const payload = encodePayload({ value: '1' })
  const members = datetimes.flatMap((datetime, place) => [
    datetime,
    encodeMember(writeNumber, place, payload),
  ])
  await redis.client.zadd(keys.records(thing, key), ...members)
  await redis.client.hset(keys.head, 'number', writeNumber)
}

/** How many records there are in each bucket of `length` milliseconds. */
async function countAll(length: number, query: Partial<AggregateQuery> = {}) {
  const wanted = { order: 'asc', limit: 10_000, buckets: utcBuckets(length), ...query } as const
  const answer = await aggregate(database, thing, key, wanted, new AbortController().signal)
  return answer?.buckets.map(({ count }) => count)
}

beforeEach(() => {
  database = new Interrupted(redisKeys(`test-${randomUUID()}`), 'node', redis.client)
  pieces = 0
  database.meanwhile = async () => pieces++
})

describe('aggregate()', () => {
  it.each(['asc', 'desc'] as const)('shows one moment, however many pieces it takes (%s)', async order => {
    const datetimes = count(5_000).map(at => 1_000 * at)
    await put(16, datetimes)
    database.meanwhile = async () => await put(32 + 16 * pieces++, [1, 2_500_001, 4_999_001])
    expect(await countAll(2_500_000, { order })).toEqual([2_500, 2_500])
    expect(pieces).toBeGreaterThan(1)
  })

  it('gives what it has when the resource goes meanwhile', async () => {
    await put(
      16,
      count(5_000).map(at => at),
    )
    database.meanwhile = async () => {
      pieces++
      await redis.client.del(database.keys.records(thing, key))
    }
    const [found = 0] = (await countAll(1_000_000)) ?? []
    expect(found).toBeGreaterThan(0)
    expect(found).toBeLessThan(5_000)
    expect(await countAll(1_000_000)).toBeUndefined()
  })

  it('has summaries travel, not records', async () => {
    const datetimes = count(4_000).map(at => 1_000 * at)
    await put(16, datetimes)
    expect(await countAll(60_000)).toEqual([...count(66).map(() => 60), 40])
    expect(pieces).toBeLessThanOrEqual(4)
  })

  it('takes many records in a piece, also where most buckets are empty', async () => {
    const datetimes = count(1_000).map(at => 86_400_000 * at)
    await put(16, datetimes)
    for (const order of ['asc', 'desc'] as const) {
      pieces = 0
      expect(await countAll(1_000, { order })).toEqual(datetimes.map(() => 1))
      expect(pieces).toBeLessThanOrEqual(5)
    }
  })

  it('looks at no more buckets than are wanted', async () => {
    await put(
      16,
      count(1_000).map(at => at),
    )
    expect(await countAll(10, { limit: 2, from: 0 })).toEqual([10, 10])
    expect(await countAll(10, { limit: 2, order: 'desc', to: 1_000 })).toEqual([10, 10])
    expect(pieces).toBe(2)
  })

  it('reads on when Redis has no memory for writes', async () => {
    await put(16, [1, 2])
    await redis.client.config('SET', 'maxmemory', 1)
    try {
      const query = { order: 'asc', limit: 1, buckets: utcBuckets(1_000) } as const
      const answer = await aggregate(database, thing, key, query, new AbortController().signal)
      expect(answer?.buckets.map(averageOf)).toEqual([1])
    } finally {
      await redis.client.config('SET', 'maxmemory', 0)
    }
  })
})
