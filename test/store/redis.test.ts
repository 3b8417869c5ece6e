import { describe, test } from 'vitest'
import { storeConformance } from '../../src/conformance/index.ts'
import { redisOfTests } from '../helpers/redis-of-test.ts'
import { redisAt } from './store-places.ts'

const redis = redisOfTests()

describe('createRedisStore()', () => {
  storeConformance({ test, ...redisAt(() => redis.url) })
})
