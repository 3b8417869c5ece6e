import { describe, expect, it } from 'vitest'
import { count, key, measured, thing, write } from '../../src/conformance/writes.ts'
import { utcBuckets } from '../../src/core/time/utc-buckets.ts'
import { openStore } from '../../src/store/open-store.ts'
import { redisOfTests } from '../helpers/redis-of-test.ts'
import { level, redisAt } from './store-places.ts'

const redis = redisOfTests()

describe.each([
  ['level', level],
  ['redis', redisAt(() => redis.url)],
])('aggregate() of a store in %s', (_, { factory }) => {
  it('is broken off by close(), which would wait for it otherwise', async () => {
    const place = await factory()
    const store = await openStore(place.driver())
    for (const round of count(20)) {
      await store.records.append(write(count(1_000).map(at => measured(round * 1_000 + at, at))))
    }
    const called = store.records.aggregate(thing, key, { order: 'asc', limit: 1, buckets: utcBuckets(1e6) })
    const refused = expect(called).rejects.toMatchObject({ reason: 'store_unavailable' })
    await store.close()
    await refused
    await place.cleanUp()
  })
})
