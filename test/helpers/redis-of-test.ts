import type { Redis } from 'ioredis'
import { expect } from 'vitest'
import { openClient } from '../../src/store/redis/connection/connection.ts'
import type { Client } from '../../src/store/redis/script.ts'
import { ofTest, ofTests } from './of-test.ts'
import { type RedisServer, type RedisSetup, startRedis } from './redis-server.ts'

/** For the tests of a file: a redis-server and a client of it, from before the first until behind the last. */
export function redisOfTests(setup: RedisSetup = {}) {
  return ofTests(
    async () => {
      const server = await startRedis(setup)
      return { url: server.url, server, client: (await openClient(server.url)) as Redis }
    },
    async ({ server, client }) => {
      client.disconnect()
      await server.end()
    },
  )
}

/** A redis-server that ends with the running test. */
export function redisOfTest(setup: RedisSetup = {}): Promise<RedisServer> {
  return ofTest(startRedis(setup), server => server.end())
}

/** A connection that ends with the running test. */
export function redisClientOfTest(url: string): Promise<Client> {
  return ofTest(openClient(url), client => client.disconnect())
}

/** A redis-server with one replica, which is connected, and a client of it; they end with the running test. */
export async function replicatedRedisOfTest() {
  const primary = await redisOfTest({ config: { 'repl-diskless-sync-delay': '0' } })
  const replica = await redisOfTest({ config: { replicaof: `127.0.0.1 ${primary.port}` } })
  const client = await redisClientOfTest(primary.url)
  await expect.poll(() => client.wait(1, 1_000), { timeout: 30_000 }).toBe(1)
  return { primary, replica, client }
}
