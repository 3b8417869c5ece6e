import { expect, it, onTestFinished } from 'vitest'
import { measured, valuesOf, write } from '../../src/conformance/writes.ts'
import { Retention } from '../../src/retention/retention.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createRedisStore } from '../../src/store/redis/index.ts'
import { redisOfTest } from '../helpers/redis-of-test.ts'

const hour = 3_600_000
/** A node that takes over notices within 15 s that the other is gone. */
const timeout = 60_000

it('Retention of several nodes is done by one, and by another when that one is closed', async () => {
  const redis = await redisOfTest()
  const open = async () => {
    const store = await openStore(createRedisStore({ url: redis.url }))
    onTestFinished(() => store.close())
    const { records, documents, nodes, clock } = store
    const rules = [{ pattern: '*', age: 1_000 }]
    const onDefect = (error: unknown) => expect.unreachable(String(error))
    const retention = await Retention.open({ records, documents, nodes, clock, rules, onDefect })
    return { records, retention }
  }
  const [one, other] = [await open(), await open()]
  const old = [3, 2, 1].map(hours => measured(Date.now() - hours * hour, hours))
  await one.records.append(write(old))
  await expect.poll(() => valuesOf(one.records)).toEqual([1])
  expect([one.retention.removed, other.retention.removed].toSorted()).toEqual([0, 2])

  const [leader, follower] = one.retention.removed > 0 ? [one, other] : [other, one]
  await leader.retention.close()
  await follower.records.append(write(old.slice(0, 2)))
  await expect.poll(() => follower.retention.removed, { timeout }).toBe(2)
  expect(await valuesOf(follower.records)).toEqual([1])
  await follower.retention.close()
})
