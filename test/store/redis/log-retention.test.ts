import assert from 'node:assert/strict'
import { test } from 'vitest'
import { count, measured, otherThing, received, thing, write } from '../../../src/conformance/writes.ts'
import { logBounds, trimLog } from '../../../src/store/redis/commit-log.ts'
import type { RedisDatabase } from '../../../src/store/redis/connection/database.ts'
import { type LogEntry, writeNumberOf } from '../../../src/store/redis/log/log-entry.ts'
import { createRefusedWrites } from '../../../src/store/redis/store.ts'
import { redisOfTests } from '../../helpers/redis-of-test.ts'
import { append, crowdLog, newDatabase } from './databases.ts'

const redis = redisOfTests({ config: { appendfsync: 'no' } })

const tenMinutes = 600 * 1_000_000

test('trimLog() takes what is older than 10 minutes, and nothing younger', async () => {
  const database = newDatabase(redis.client)
  const [seconds = '', microseconds = ''] = await redis.client.time()
  const now = Number(seconds) * 1_000_000 + Number(microseconds)
  const ages = [2 * tenMinutes, tenMinutes + 1_000_000, tenMinutes - 60_000_000]
  const numbers = ages.map(age => now - age).map(number => number - (number % 16))
  for (const number of numbers) {
    await database.call('XADD', database.keys.log, `${number}-0`, 't', thing, 'c', '{}')
  }
  const [newest] = await append(database, write([received(1)]))
  assert.equal((await logBounds(database)).completeAfter, 0)
  await trimLog(database, [...numbers, newest?.writeNumber ?? 0])
  assert.deepEqual(await numbersIn(database), [numbers[2], newest?.writeNumber])
  assert.equal((await logBounds(database)).completeAfter, numbers[1])
})

test('trimLog() takes what has 100,000 entries behind it, and says up to where', async () => {
  const database = newDatabase(redis.client)
  const receipts = await append(database, ...count(10).map(value => write([received(value)])))
  const numbers = receipts.map(({ writeNumber }) => writeNumber)
  await trimLog(database, numbers)
  assert.deepEqual(await numbersIn(database), numbers)
  assert.equal((await logBounds(database)).completeAfter, 0)
  await crowdLog(database, numbers[5] ?? 0)
  assert.equal((await logBounds(database)).trimmableTo, numbers[5])
  await trimLog(database, [numbers[4] ?? 0, numbers[2] ?? 0, numbers[7] ?? 0])
  await trimLog(database, [numbers[3] ?? 0])
  assert.deepEqual(
    await numbersIn(database),
    numbers.filter((_, index) => ![2, 3, 4].includes(index)),
  )
  assert.deepEqual(await logBounds(database), { completeAfter: numbers[4], trimmableTo: numbers[5] })
})

test('commits are marked at every 1,000th entry, of which a large one counts as several', async () => {
  const database = newDatabase(redis.client)
  const receipts = await append(database, ...count(2_500).map(value => write([received(value)])))
  const marksAt = [1_999, 999].map(index => String(receipts[index]?.writeNumber))
  assert.deepEqual(await marksIn(database), marksAt)
  const large = write(count(40).map(() => received('x'.repeat(60_000))))
  const [first] = await append(database, large)
  assert.deepEqual(await marksIn(database), [String(first?.writeNumber), ...marksAt])
  await crowdLog(database, 7)
  const [, second] = await append(database, large, large, large)
  const marks = await marksIn(database)
  assert.equal(marks.length, 100)
  assert.ok(marks.includes(String(second?.writeNumber)))
  assert.ok((await logBounds(database)).trimmableTo >= 7)
})

test('entries that nobody reads later leave the log when they may and others of their kind come', async () => {
  const database = newDatabase(redis.client)
  const refused = createRefusedWrites(database)
  const passing = { datetime: 1, door: 'http', reason: 'invalid_json', message: 'no', excerpt: '' } as const
  const same = measured(1_000, 1)
  const [kept] = await append(
    database,
    write([same]),
    write([same]),
    ...count(20).map(value => write([received(value)], { store: false })),
  )
  for (const thingId of [thing, otherThing]) await refused.add(thingId, passing)
  const before = await numbersIn(database)
  assert.equal(before.length, 24)
  await crowdLog(database, before.at(-1) ?? 0)
  for (const _ of count(5)) await refused.add(thing, passing)
  const after = await numbersIn(database)
  assert.deepEqual(after.slice(0, 1), [kept?.writeNumber])
  assert.deepEqual(after.slice(1, -5), before.slice(11))
  assert.equal((await logBounds(database)).completeAfter, before[10])
  for (const _ of count(20)) await refused.add(thing, passing)
  assert.equal((await numbersIn(database)).length, 26)
})

async function numbersIn(database: RedisDatabase): Promise<number[]> {
  const entries = (await database.call('XRANGE', database.keys.log, '-', '+')) as unknown as LogEntry[]
  return entries.map(writeNumberOf)
}

async function marksIn(database: RedisDatabase): Promise<string[]> {
  return ((await database.call('LRANGE', database.keys.logMarks, 0, -1)) as Buffer[]).map(String)
}
