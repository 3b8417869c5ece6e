import { expect, onTestFinished, test, vi } from 'vitest'
import { received, waitedFor, write } from '../../../src/conformance/writes.ts'
import { RedisCommitter } from '../../../src/store/redis/committer.ts'
import { NumberedWrites } from '../../../src/store/redis/connection/numbered-writes.ts'
import { redisClientOfTest, redisOfTest } from '../../helpers/redis-of-test.ts'
import { newDatabase } from './databases.ts'

test('turn() leaves others the time that a group took, for each that has committed before it, 5 ms at most', async () => {
  const redis = await redisOfTest()
  const client = await redisClientOfTest(redis.url)
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())

  let others = 0
  const take = () => {
    vi.advanceTimersByTime(1)
    return others
  }
  const committer = new RedisCommitter(new NumberedWrites(newDatabase(client)), { newestRead: 0, take })
  const commit = () =>
    committer.commit([{ change: { write: write([received(1)]), documents: [] }, ticket: waitedFor() }])
  const isTurn = () => committer.turn() === undefined

  expect(isTurn()).toBe(true)
  await commit()
  expect(isTurn()).toBe(true)
  for (const [count, left] of [
    [1, 1],
    [3, 3],
    [9, 5],
  ] as const) {
    others = count
    await commit()
    vi.advanceTimersByTime(left - 1)
    expect(isTurn()).toBe(false)
    vi.advanceTimersByTime(1)
    expect(isTurn()).toBe(true)
  }
})
