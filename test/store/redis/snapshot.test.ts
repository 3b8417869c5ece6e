import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { collect, type Row, rowsOf, state } from '../../../src/conformance/views.ts'
import { count, measured, otherThing, thing, write } from '../../../src/conformance/writes.ts'
import type { LatestQuery } from '../../../src/store/contract.ts'
import { RedisDatabase } from '../../../src/store/redis/connection/database.ts'
import { redisKeys } from '../../../src/store/redis/keys.ts'
import { Follower } from '../../../src/store/redis/log/follower.ts'
import { remove } from '../../../src/store/redis/removals.ts'
import { RedisSnapshot } from '../../../src/store/redis/snapshot.ts'
import { redisOfTests } from '../../helpers/redis-of-test.ts'
import { alone, append } from './databases.ts'
import { Interrupted } from './interrupted.ts'

const redis = redisOfTests({ config: { appendfsync: 'no' } })

/** What the snapshot reads. */
let database: Interrupted
/** What another node writes to. */
let other: RedisDatabase
let follower: Follower

beforeEach(() => {
  const keys = redisKeys(`test-${randomUUID()}`)
  database = new Interrupted(keys, 'node', redis.client)
  other = new RedisDatabase(keys, 'other', redis.client)
  follower = new Follower(redis.client.duplicate(), keys, 'node')
  follower.start(0)
})

afterEach(() => follower.close())

async function snapshotNow(): Promise<RedisSnapshot> {
  await follower.reached(Number(await other.call('HGET', other.keys.head, 'number')))
  return new RedisSnapshot(database, follower, follower.newestDelivered)
}

async function rows(snapshot: RedisSnapshot, query: LatestQuery = {}): Promise<Row[]> {
  return rowsOf(await collect(snapshot.latest(query)))
}

/** A key that stands by its number among the others. */
function keyOf(number: number): string {
  return `key-${String(number).padStart(4, '0')}`
}

const numbers = count(600)
const queries = [{}, { thingId: thing }, { thingId: otherThing }, { key: keyOf(7) }, { key: '$s3' }]

describe('latest()', () => {
  for (const query of queries) {
    it(`is as it was, whatever comes and goes between its steps: ${JSON.stringify(query)}`, async () => {
      for (const thingId of [thing, otherThing]) {
        const records = [1, 2].flatMap(round =>
          numbers.map(number => measured(round * 1_000, `${round} ${number}`, { key: keyOf(number) })),
        )
        const states = count(20).map(number => state(number, { key: `$s${number}` }))
        await append(other, write(records, { thingId, states }))
      }
      for (let round = 1; round <= 6; round++) {
        const snapshot = await snapshotNow()
        const expected = await rows(snapshot, query)
        const change = changing(round)
        await change()
        database.meanwhile = change
        expect(await rows(snapshot, query), `round ${round}`).toEqual(expected)
        database.meanwhile = undefined
        expect(await rows(snapshot, query), `round ${round}`).toEqual(expected)
        await snapshot.close()
      }
    })
  }

  it('gives a resource once, though it is emptied and filled again while it is read', async () => {
    await append(other, write(numbers.map(number => measured(1_000, 'old', { key: keyOf(number) }))))
    const snapshot = await snapshotNow()
    database.meanwhile = async () => {
      for (const number of [3, 300, 599]) {
        await remove(other, alone, thing, keyOf(number), {})
        await append(other, write([measured(2_000, 'new', { key: keyOf(number) })]))
      }
    }
    const expected = numbers.map(number => [thing, keyOf(number), 'old'])
    expect(await rows(snapshot)).toEqual(expected)
    expect(await rows(snapshot, { thingId: thing })).toEqual(expected)
    for (const number of [3, 4]) {
      expect(await rows(snapshot, { key: keyOf(number) })).toEqual([[thing, keyOf(number), 'old']])
    }
    await snapshot.close()
  })

  it('finds what was latest behind thousands of newer records, those of 64 KiB too', async () => {
    await append(other, write([measured(1_000, 'old'), measured(1_000, 'old', { key: 'large' })]))
    const snapshot = await snapshotNow()
    const large = 'x'.repeat(60 * 1024)
    await append(other, write(count(3_000).map(number => measured(2_000 + number, number))))
    await append(other, write(count(40).map(number => measured(2_000 + number, large, { key: 'large' }))))
    await append(other, write([measured(2_000, 'new', { key: 'new' })]))
    const expected = [
      [thing, 'large', 'old'],
      [thing, 'temperature', 'old'],
    ]
    for (const query of [{}, { thingId: thing }]) expect(await rows(snapshot, query)).toEqual(expected)
    expect(await rows(snapshot, { key: 'large' })).toEqual(expected.slice(0, 1))
    expect(await rows(snapshot, { thingId: thing, key: 'temperature' })).toEqual(expected.slice(1))
    await snapshot.close()
  })

  it('finds what was latest though what was added behind it was removed, and then itself', async () => {
    await append(other, write([measured(500, 'older'), measured(1_000, 'old')]))
    const snapshot = await snapshotNow()
    await append(other, write([measured(2_000, 'new'), measured(3_000, 'new')]))
    const expected = [[thing, 'temperature', 'old']]
    for (const from of [3_000, 2_000, 1_000, 500]) {
      await remove(other, alone, thing, 'temperature', { from })
      expect(await rows(snapshot)).toEqual(expected)
    }
    await append(other, write([measured(500, 'again')]))
    expect(await rows(snapshot)).toEqual(expected)
    await snapshot.close()
  })

  it('finds what was latest though it is removed while it is looked for behind newer records', async () => {
    await append(other, write([measured(1_000, 'old')]))
    const snapshot = await snapshotNow()
    await append(other, write(count(200).map(number => measured(2_000 + number, number))))
    let last: number | undefined
    database.meanwhile = async () => {
      database.meanwhile = undefined
      for (const from of [2_000, 1_000]) {
        last = (await remove(other, alone, thing, 'temperature', { from })).writeNumber
      }
    }
    const waitedFor = vi.spyOn(follower, 'reached')
    expect(await rows(snapshot)).toEqual([[thing, 'temperature', 'old']])
    expect(waitedFor).toHaveBeenLastCalledWith(last)
    await snapshot.close()
  })

  it('finds a state as it was before the first of many that were put', async () => {
    await append(other, write([], { states: [state('first')] }))
    const snapshot = await snapshotNow()
    for (const value of count(5)) await append(other, write([], { states: [state(value)] }))
    await append(other, write([], { states: [{ key: '$geo', record: undefined }] }))
    await append(other, write([], { states: [state('new', { key: '$new' })], thingId: otherThing }))
    for (const query of [{}, { thingId: thing }, { key: '$geo' }, { thingId: thing, key: '$geo' }]) {
      expect(await rows(snapshot, query)).toEqual([[thing, '$geo', 'first']])
    }
    for (const query of [{ thingId: otherThing }, { key: '$new' }]) {
      expect(await rows(snapshot, query)).toEqual([])
    }
    await snapshot.close()
  })

  it('goes over magic keys and ordinary ones in their order, a step at a time', async () => {
    const many = count(300)
    const records = many.map(number => measured(1_000, 1, { key: `-.A_a${number}` }))
    const states = many.map(number => state(2, { key: `$_a.A-${number}` }))
    await append(other, write(records, { states }))
    const histories = many.map(number => measured(1_000, 3, { key: `$_a.A-${number}` }))
    await append(
      other,
      write([...histories, measured(1_000, 3, { key: '$' }), measured(1_000, 3, { key: '$z' })]),
    )
    const snapshot = await snapshotNow()
    const found = await rows(snapshot)
    expect(found).toHaveLength(600)
    expect(found.filter(([, , value]) => value === 1)).toHaveLength(300)
    expect(await rows(snapshot, { thingId: thing })).toEqual(found)
    await snapshot.close()
  })

  it('reads on when Redis has no memory for writes', async () => {
    await append(other, write([measured(1_000, 1)]))
    const snapshot = await snapshotNow()
    await redis.client.config('SET', 'maxmemory', 1)
    try {
      expect(await rows(snapshot)).toEqual([[thing, 'temperature', 1]])
    } finally {
      await redis.client.config('SET', 'maxmemory', 0)
    }
    await snapshot.close()
  })

  it('rejects when the snapshot is closed while a page is read', async () => {
    await append(other, write([measured(1_000, 1)]))
    const snapshot = await snapshotNow()
    database.meanwhile = () => snapshot.close()
    await expect(rows(snapshot)).rejects.toMatchObject({ reason: 'store_unavailable' })
  })
})

/** Changes some resources, others at each call; none of them twice in a round. */
function changing(round: number): () => Promise<void> {
  let step = 0
  return async () => {
    step++
    if (step > 10) return
    const own = (part: number) => keyOf((7 * (part + 1) + 70 * step) % 600)
    for (const thingId of [thing, otherThing]) {
      const newest = 1_000 * (round + 2)
      await append(
        other,
        write(
          [
            measured(newest, `newer ${round}`, { key: own(1) }),
            measured(500, `late ${round} ${step}`, { key: own(2) }),
            measured(newest, 'new', { key: `${own(3)}-${round}` }),
          ],
          { thingId, states: [state(`${round} ${step}`, { key: `$s${step}` })] },
        ),
      )
      await remove(other, alone, thingId, own(4), {})
      await remove(other, alone, thingId, own(5), { from: 2_000 })
      const states = [
        { key: `$s${step + 9}`, record: undefined },
        state(`new ${round}`, { key: `$new-${step}` }),
      ]
      await append(other, write([measured(1_500, `again ${round}`, { key: own(4) })], { thingId, states }))
    }
  }
}
