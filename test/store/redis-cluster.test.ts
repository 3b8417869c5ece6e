import { beforeAll, describe, test } from 'vitest'
import { storeConformance } from '../../src/conformance/index.ts'
import { type RedisCluster, startRedisCluster } from '../helpers/redis-cluster.ts'
import { redisAt } from './store-places.ts'

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startRedisCluster()
  return () => cluster.end()
})

describe('createRedisStore() on a cluster', () => {
  storeConformance({ test, ...redisAt(() => cluster.url) })
})
