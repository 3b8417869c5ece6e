import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { formatVersion, openFormat } from '../../../../src/store/redis/connection/format.ts'
import { type Keys, redisKeys } from '../../../../src/store/redis/keys.ts'
import { redisOfTests } from '../../../helpers/redis-of-test.ts'

const redis = redisOfTests()

const today = { format: String(formatVersion), partitions: '1' }
const before = { format: '1', partitions: '1' }

let prefix: string
let keys: Keys
beforeEach(() => {
  prefix = randomUUID()
  keys = redisKeys(prefix)
})

const stored = () => redis.client.hgetall(keys.meta)
const open = () => openFormat(redis.client, prefix)

test('openFormat() writes down what a new store is made with, and takes it again', async () => {
  expect(await open()).toBeUndefined()
  expect(await stored()).toEqual(today)
  await redis.client.zadd(keys.nodes, Date.now() + 25_000, 'another')
  expect(await open()).toBeUndefined()
})

test('openFormat() refuses another format and another number of partitions, and changes nothing', async () => {
  for (const [meta, message] of [
    [{ format: String(formatVersion + 1), divisions: '1' }, `it has format ${formatVersion + 1}`],
    [{ format: 'x', partitions: '1' }, 'it has format x'],
    [{ format: '2', partitions: '1' }, 'it has format 2 of an early version'],
    [{ format: String(formatVersion), partitions: '2' }, 'it has 2 partitions, not 1'],
    [{ format: '1', partitions: '2' }, 'it has 2 partitions, not 1'],
    [{ migration: 'x', format: '1' }, 'thingwire migrate has not finished'],
  ] as const) {
    await redis.client.del(keys.meta)
    await redis.client.hset(keys.meta, meta)
    await expect(open()).rejects.toThrow(message)
    expect(await stored()).toEqual(meta)
  }
})

test('openFormat() gives a store of format 1 that no node uses the format of today', async () => {
  await redis.client.hset(keys.meta, before)
  // It was killed; so were all: none has said since that it is there.
  await redis.client.zadd(keys.nodes, Date.now() - 1, 'killed')
  for (let entry = 1; entry <= 250; entry++)
    await redis.client.xadd(keys.log, `${entry}-0`, 'o', 'node', 'd', '[]')
  await redis.client.xadd(keys.log, '300-0', 't', 'boat', 'c', 'node 1 3 0 {}')
  expect(await open()).toBe('1')
  expect(await stored()).toEqual(today)
})

test('openFormat() refuses a store of format 1 while nodes of an older version use it', async () => {
  await redis.client.hset(keys.meta, before)
  await redis.client.zadd(keys.nodes, Date.now() + 25_000, 'old')
  await expect(open()).rejects.toThrow(/nodes of an older version use it: stop them all/)
  expect(await stored()).toEqual(before)
  await redis.client.zrem(keys.nodes, 'old')
  expect(await open()).toBe('1')
})

test('openFormat() refuses the first format 1, by the oldest commit in its log', async () => {
  await redis.client.hset(keys.meta, before)
  for (let entry = 1; entry <= 250; entry++)
    await redis.client.xadd(keys.log, `${entry}-0`, 'o', 'node', 'd', '[]')
  await redis.client.xadd(keys.log, '300-0', 't', 'boat', 'c', '{"node":"node","receivedAt":1}')
  await expect(open()).rejects.toThrow('it has format 1 of an early version')
  expect(await stored()).toEqual(before)
})

test('openFormat() by several nodes at once gives the format once', async () => {
  await redis.client.hset(keys.meta, before)
  const outcomes = await Promise.all(Array.from({ length: 5 }, open))
  expect(outcomes.filter(outcome => outcome === '1')).toHaveLength(1)
  expect(await stored()).toEqual(today)
})
