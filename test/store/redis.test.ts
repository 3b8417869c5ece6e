import { beforeAll, describe, test } from 'vitest'
import { storeConformance } from '../../src/conformance/index.ts'
import { type RedisServer, startRedis } from '../helpers/redis-server.ts'
import { redisAt } from './store-places.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
  return () => server.end()
})

describe('createRedisStore()', () => {
  storeConformance({ test, ...redisAt(() => server.url) })
})
