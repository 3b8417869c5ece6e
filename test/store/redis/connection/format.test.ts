import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { openClient } from '../../../../src/store/redis/connection/connection.ts'
import { formatVersion, metaKey, openFormat } from '../../../../src/store/redis/connection/format.ts'
import type { Client } from '../../../../src/store/redis/script.ts'
import { startRedis } from '../../../helpers/redis-server.ts'

let client: Client
let prefix: string
beforeAll(async () => {
  const server = await startRedis()
  client = await openClient(server.url)
  return async () => {
    client.disconnect()
    await server.end()
  }
})
beforeEach(() => {
  prefix = randomUUID()
})

const stored = () => client.hgetall(metaKey(prefix))

test('openFormat() writes down what a new store is made with, and takes it again', async () => {
  await openFormat(client, prefix)
  expect(await stored()).toEqual({ format: String(formatVersion), partitions: '1' })
  await openFormat(client, prefix)
})

test('openFormat() leaves what another node makes at the same moment', async () => {
  const read = client.hgetall.bind(client)
  const made = { format: String(formatVersion), partitions: '2' }
  vi.spyOn(client, 'hgetall').mockImplementationOnce(async key => {
    const seen = await read(String(key))
    await client.hset(metaKey(prefix), made)
    return seen
  })
  await expect(openFormat(client, prefix)).rejects.toThrow('it has 2 partitions, not 1')
  expect(await stored()).toEqual(made)
})

test('openFormat() refuses another format and another number of partitions, and changes nothing', async () => {
  for (const [meta, message] of [
    [{ format: String(formatVersion + 1), divisions: '1' }, `it has format ${formatVersion + 1}`],
    [{ format: 'x', partitions: '1' }, 'it has format x'],
    [{ format: String(formatVersion), partitions: '2' }, 'it has 2 partitions, not 1'],
  ] as const) {
    await client.del(metaKey(prefix))
    await client.hset(metaKey(prefix), meta)
    await expect(openFormat(client, prefix)).rejects.toThrow(message)
    expect(await stored()).toEqual(meta)
  }
})
