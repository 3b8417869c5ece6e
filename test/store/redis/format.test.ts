import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test, vi } from 'vitest'
import { formatVersion, metaKey, openFormat } from '../../../src/store/redis/format.ts'
import { redisOfTests } from '../../helpers/redis-of-test.ts'

const redis = redisOfTests()

let prefix: string
beforeEach(() => {
  prefix = randomUUID()
})

const stored = () => redis.client.hgetall(metaKey(prefix))

test('openFormat() writes down what a new store is made with, and takes it again', async () => {
  await openFormat(redis.client, prefix, 4)
  expect(await stored()).toEqual({ format: String(formatVersion), partitions: '4' })
  await openFormat(redis.client, prefix, 4)
})

test('openFormat() leaves what another node makes at the same moment', async () => {
  const read = redis.client.hgetall.bind(redis.client)
  vi.spyOn(redis.client, 'hgetall').mockImplementationOnce(async key => {
    const seen = await read(String(key))
    await openFormat(redis.client, prefix, 2)
    return seen
  })
  await expect(openFormat(redis.client, prefix, 1)).rejects.toThrow('it has 2 partitions, not 1')
  expect(await stored()).toEqual({ format: String(formatVersion), partitions: '2' })
})

test('openFormat() refuses another format and another number of partitions, and changes nothing', async () => {
  for (const meta of [
    { format: String(formatVersion + 1), divisions: '1' },
    { format: 'x', partitions: '1' },
  ]) {
    await redis.client.del(metaKey(prefix))
    await redis.client.hset(metaKey(prefix), meta)
    await expect(openFormat(redis.client, prefix, 1)).rejects.toThrow(`it has format ${meta.format}`)
    expect(await stored()).toEqual(meta)
  }
  await redis.client.del(metaKey(prefix))
  await openFormat(redis.client, prefix, 1)
  await expect(openFormat(redis.client, prefix, 2)).rejects.toThrow('it has 1 partitions, not 2')
  expect(await stored()).toEqual({ format: String(formatVersion), partitions: '1' })
})
