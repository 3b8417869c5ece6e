import type { Redis } from 'ioredis'
import { beforeAll, expect, onTestFinished } from 'vitest'
import { openClient } from '../../src/store/redis/connection/connection.ts'
import type { Client } from '../../src/store/redis/script.ts'
import { type RedisServer, type RedisSetup, startRedis } from './redis-server.ts'

export interface TestRedis {
  readonly url: string
  readonly server: RedisServer
  readonly client: Redis
}

/** For the tests of a file: a redis-server and a client of it, from before the first until behind the last. */
export function redisOfTests(setup: RedisSetup = {}): TestRedis {
  let redis: Omit<TestRedis, 'url'> | undefined
  const started = () => {
    if (!redis) throw new Error('no test is running')
    return redis
  }
  beforeAll(async () => {
    const server = await startRedis(setup)
    const client = (await openClient(server.url)) as Redis
    redis = { server, client }
    return async () => {
      client.disconnect()
      await server.end()
    }
  })
  return {
    get url() {
      return started().server.url
    },
    get server() {
      return started().server
    },
    get client() {
      return started().client
    },
  }
}

/** A redis-server that ends with the running test. */
export async function redisOfTest(setup: RedisSetup = {}): Promise<RedisServer> {
  const server = await startRedis(setup)
  onTestFinished(() => server.end())
  return server
}

/** A connection that ends with the running test. */
export async function redisClientOfTest(url: string): Promise<Client> {
  const client = await openClient(url)
  onTestFinished(() => client.disconnect())
  return client
}

/** A redis-server with one replica, which is connected, and a client of it; they end with the running test. */
export async function replicatedRedisOfTest() {
  const primary = await redisOfTest({ config: { 'repl-diskless-sync-delay': '0' } })
  const replica = await redisOfTest({ config: { replicaof: `127.0.0.1 ${primary.port}` } })
  const client = await redisClientOfTest(primary.url)
  await expect.poll(() => client.wait(1, 1_000), { timeout: 30_000 }).toBe(1)
  return { primary, replica, client }
}
