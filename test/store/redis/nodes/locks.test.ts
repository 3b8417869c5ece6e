import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { gather } from '../../../../src/conformance/gathered.ts'
import { received, valuesOf, write } from '../../../../src/conformance/writes.ts'
import { type Lock, LockLost } from '../../../../src/core/locks.ts'
import { openStore } from '../../../../src/store/open-store.ts'
import { createRedisStore } from '../../../../src/store/redis/index.ts'
import { redisKeys } from '../../../../src/store/redis/keys.ts'
import { redisOfTests } from '../../../helpers/redis-of-test.ts'

const redis = redisOfTests()

async function open() {
  const prefix = randomUUID()
  const store = await openStore(createRedisStore({ url: redis.url, prefix }))
  onTestFinished(() => store.close())
  return { store, keys: redisKeys(prefix) }
}

it('ends the locks of a node that is dead, however many, and no others', async () => {
  const { store, keys } = await open()
  const own = await store.locks.take('client/own')
  const many = Array.from({ length: 1_500 }, (_, index) => [`client/${index}`, `killed:${index}`]).flat()
  await redis.client.hset(keys.locks, 'client/other', 'killed2:1', ...many)
  await redis.client.zadd(keys.nodes, 1, 'killed')
  await expect.poll(() => redis.client.hkeys(keys.locks)).toEqual(expect.not.arrayContaining(['client/1499']))
  await expect.poll(() => redis.client.hlen(keys.locks)).toBe(2)
  expect(await redis.client.hgetall(keys.locks)).toEqual({
    'client/own': own.owner,
    'client/other': 'killed2:1',
  })
})

it('tells a node that counted as dead which locks have ended meanwhile, and leaves it those that have not', async () => {
  const { store, keys } = await open()
  const lost = gather<Lock>(listener => store.locks.onLost(listener))
  const [ended, taken, kept] = [
    await store.locks.take('client/ended'),
    await store.locks.take('client/taken'),
    await store.locks.take('client/kept'),
  ]
  await redis.client.hdel(keys.locks, ended.name)
  await redis.client.hset(keys.locks, taken.name, 'other:1')
  await redis.client.zrem(keys.nodes, store.nodes.self)
  const told = await lost.first(2)
  expect(told.map(({ name, owner }) => [name, owner]).toSorted()).toEqual([
    [ended.name, ended.owner],
    [taken.name, taken.owner],
  ])
  await expect(store.records.append(write([received(1)], { lock: ended }))).rejects.toBeInstanceOf(LockLost)
  await store.records.append(write([received(2)], { lock: kept }))
  expect(await valuesOf(store.records)).toEqual([2])
})
