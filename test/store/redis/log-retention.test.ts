import assert from 'node:assert/strict'
import { test } from 'vitest'
import { count, measured, otherThing, received, thing, write } from '../../../src/conformance/writes.ts'
import { logBounds, trimLog } from '../../../src/store/redis/commit-log.ts'
import { type LogEntry, writeNumberOf } from '../../../src/store/redis/log-entry.ts'
import type { Partition } from '../../../src/store/redis/partition.ts'
import { RedisRefusedWrites } from '../../../src/store/redis/refused-writes.ts'
import { redisOfTests } from '../../helpers/redis-of-test.ts'
import { append, crowdLog, newPartition } from './partitions.ts'

const redis = redisOfTests({ config: { appendfsync: 'no' } })

const tenMinutes = 600 * 1_000_000

test('trimLog() takes what is older than 10 minutes, and nothing younger', async () => {
  const partition = newPartition(redis.client)
  const [seconds = '', microseconds = ''] = await redis.client.time()
  const now = Number(seconds) * 1_000_000 + Number(microseconds)
  const ages = [2 * tenMinutes, tenMinutes + 1_000_000, tenMinutes - 60_000_000]
  const numbers = ages.map(age => now - age).map(number => number - (number % 16))
  for (const number of numbers) {
    await partition.call('XADD', partition.keys.log, `${number}-0`, 't', thing, 'c', '{}')
  }
  const [newest] = await append(partition, write([received(1)]))
  assert.equal((await logBounds(partition)).completeAfter, 0)
  await trimLog([partition], [...numbers, newest?.writeNumber ?? 0])
  assert.deepEqual(await numbersIn(partition), [numbers[2], newest?.writeNumber])
  assert.equal((await logBounds(partition)).completeAfter, numbers[1])
})

test('trimLog() takes what has 100,000 entries behind it, and says up to where', async () => {
  const partition = newPartition(redis.client)
  const receipts = await append(partition, ...count(10).map(value => write([received(value)])))
  const numbers = receipts.map(({ writeNumber }) => writeNumber)
  await trimLog([partition], numbers)
  assert.deepEqual(await numbersIn(partition), numbers)
  assert.equal((await logBounds(partition)).completeAfter, 0)
  await crowdLog(partition, numbers[5] ?? 0)
  assert.equal((await logBounds(partition)).trimmableTo, numbers[5])
  await trimLog([partition], [numbers[4] ?? 0, numbers[2] ?? 0, numbers[7] ?? 0])
  await trimLog([partition], [numbers[3] ?? 0])
  assert.deepEqual(
    await numbersIn(partition),
    numbers.filter((_, index) => ![2, 3, 4].includes(index)),
  )
  assert.deepEqual(await logBounds(partition), { completeAfter: numbers[4], trimmableTo: numbers[5] })
})

test('commits are marked at every 1,000th entry, of which a large one counts as several', async () => {
  const partition = newPartition(redis.client)
  const receipts = await append(partition, ...count(2_500).map(value => write([received(value)])))
  const marksAt = [1_999, 999].map(index => String(receipts[index]?.writeNumber))
  assert.deepEqual(await marksIn(partition), marksAt)
  const large = write(count(40).map(() => received('x'.repeat(60_000))))
  const [first] = await append(partition, large)
  assert.deepEqual(await marksIn(partition), [String(first?.writeNumber), ...marksAt])
  await crowdLog(partition, 7)
  const [, second] = await append(partition, large, large, large)
  const marks = await marksIn(partition)
  assert.equal(marks.length, 100)
  assert.ok(marks.includes(String(second?.writeNumber)))
  assert.ok((await logBounds(partition)).trimmableTo >= 7)
})

test('entries that nobody reads later leave the log when they may and others of their kind come', async () => {
  const partition = newPartition(redis.client)
  const refused = new RedisRefusedWrites(() => partition)
  const passing = { datetime: 1, door: 'http', reason: 'invalid_json', message: 'no', excerpt: '' } as const
  const same = measured(1_000, 1)
  const [kept] = await append(
    partition,
    write([same]),
    write([same]),
    ...count(20).map(value => write([received(value)], { store: false })),
  )
  for (const thingId of [thing, otherThing]) await refused.add(thingId, passing)
  const before = await numbersIn(partition)
  assert.equal(before.length, 24)
  await crowdLog(partition, before.at(-1) ?? 0)
  for (const _ of count(5)) await refused.add(thing, passing)
  const after = await numbersIn(partition)
  assert.deepEqual(after.slice(0, 1), [kept?.writeNumber])
  assert.deepEqual(after.slice(1, -5), before.slice(11))
  assert.equal((await logBounds(partition)).completeAfter, before[10])
  for (const _ of count(20)) await refused.add(thing, passing)
  assert.equal((await numbersIn(partition)).length, 26)
})

async function numbersIn(partition: Partition): Promise<number[]> {
  const entries = (await partition.call('XRANGE', partition.keys.log, '-', '+')) as unknown as LogEntry[]
  return entries.map(writeNumberOf)
}

async function marksIn(partition: Partition): Promise<string[]> {
  return ((await partition.call('LRANGE', partition.keys.logMarks, 0, -1)) as Buffer[]).map(String)
}
