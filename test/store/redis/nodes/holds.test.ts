import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { gather } from '../../../../src/conformance/gathered.ts'
import { received, valuesOf, write } from '../../../../src/conformance/writes.ts'
import { type Hold, HoldLost } from '../../../../src/core/holds.ts'
import { openStore } from '../../../../src/store/open-store.ts'
import { openClient } from '../../../../src/store/redis/connection/connection.ts'
import { createRedisStore } from '../../../../src/store/redis/index.ts'
import { Keys } from '../../../../src/store/redis/keys.ts'
import { type RedisServer, startRedis } from '../../../helpers/redis-server.ts'

let server: RedisServer
let client: Redis
beforeAll(async () => {
  server = await startRedis()
  client = (await openClient(server.url)) as Redis
})
afterAll(async () => {
  client.disconnect()
  await server.end()
})

async function open() {
  const prefix = randomUUID()
  const store = await openStore(createRedisStore({ url: server.url, prefix }))
  onTestFinished(() => store.close())
  return { store, keys: new Keys(prefix) }
}

it('ends the holds of a node that is dead, however many, and no others', async () => {
  const { store, keys } = await open()
  const own = await store.holds.take('client/own')
  const many = Array.from({ length: 1_500 }, (_, index) => [`client/${index}`, `killed:${index}`]).flat()
  await client.hset(keys.holds, 'client/other', 'killed2:1', ...many)
  await client.zadd(keys.nodes, 1, 'killed')
  await expect.poll(() => client.hkeys(keys.holds)).toEqual(expect.not.arrayContaining(['client/1499']))
  await expect.poll(() => client.hlen(keys.holds)).toBe(2)
  expect(await client.hgetall(keys.holds)).toEqual({ 'client/own': own.holder, 'client/other': 'killed2:1' })
})

it('tells a node that counted as dead which holds have ended meanwhile, and leaves it those that have not', async () => {
  const { store, keys } = await open()
  const lost = gather<Hold>(listener => store.holds.onLost(listener))
  const [ended, taken, kept] = [
    await store.holds.take('client/ended'),
    await store.holds.take('client/taken'),
    await store.holds.take('client/kept'),
  ]
  await client.hdel(keys.holds, ended.name)
  await client.hset(keys.holds, taken.name, 'other:1')
  await client.zrem(keys.nodes, store.nodes.self)
  const told = await lost.first(2)
  expect(told.map(({ name, holder }) => [name, holder]).toSorted()).toEqual([
    [ended.name, ended.holder],
    [taken.name, taken.holder],
  ])
  await expect(store.records.append(write([received(1)], { hold: ended }))).rejects.toBeInstanceOf(HoldLost)
  await store.records.append(write([received(2)], { hold: kept }))
  expect(await valuesOf(store.records)).toEqual([2])
})
