import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test, vi } from 'vitest'
import { formatVersion, openFormat } from '../../../../src/store/redis/connection/format.ts'
import { redisKeys } from '../../../../src/store/redis/keys.ts'
import { redisOfTests } from '../../../helpers/redis-of-test.ts'

const redis = redisOfTests()

let prefix: string
beforeEach(() => {
  prefix = randomUUID()
})

const stored = () => redis.client.hgetall(redisKeys(prefix).meta)

test('openFormat() writes down what a new store is made with, and takes it again', async () => {
  await openFormat(redis.client, prefix)
  expect(await stored()).toEqual({ format: String(formatVersion), partitions: '1' })
  await openFormat(redis.client, prefix)
})

test('openFormat() leaves what another node makes at the same moment', async () => {
  const read = redis.client.hgetall.bind(redis.client)
  const made = { format: String(formatVersion), partitions: '2' }
  vi.spyOn(redis.client, 'hgetall').mockImplementationOnce(async key => {
    const seen = await read(String(key))
    await redis.client.hset(redisKeys(prefix).meta, made)
    return seen
  })
  await expect(openFormat(redis.client, prefix)).rejects.toThrow('it has 2 partitions, not 1')
  expect(await stored()).toEqual(made)
})

test('openFormat() refuses another format and another number of partitions, and changes nothing', async () => {
  for (const [meta, message] of [
    [{ format: String(formatVersion + 1), divisions: '1' }, `it has format ${formatVersion + 1}`],
    [{ format: 'x', partitions: '1' }, 'it has format x'],
    [{ format: String(formatVersion), partitions: '2' }, 'it has 2 partitions, not 1'],
  ] as const) {
    await redis.client.del(redisKeys(prefix).meta)
    await redis.client.hset(redisKeys(prefix).meta, meta)
    await expect(openFormat(redis.client, prefix)).rejects.toThrow(message)
    expect(await stored()).toEqual(meta)
  }
})
