import assert from 'node:assert/strict'
import { test } from 'vitest'
import { put, state } from '../../../src/conformance/views.ts'
import { count, measured, otherThing, received, thing, write } from '../../../src/conformance/writes.ts'
import { maximumPageText } from '../../../src/core/ports.ts'
import type { LogQuery } from '../../../src/store/contract.ts'
import { readLog, trimLog } from '../../../src/store/redis/commit-log.ts'
import type { RedisDatabase } from '../../../src/store/redis/connection/database.ts'
import type { LogEntry } from '../../../src/store/redis/log/log-entry.ts'
import { Script } from '../../../src/store/redis/script.ts'
import { redisOfTests } from '../../helpers/redis-of-test.ts'
import { append, crowdLog, newDatabase } from './databases.ts'

const redis = redisOfTests()

const all: LogQuery = { after: 0, before: Number.POSITIVE_INFINITY, order: 'asc', limit: 10_000 }

test('readLog() reads many pieces, either way', async () => {
  const database = newDatabase(redis.client)
  const numbers = await commitEach(database, count(1_700))
  assert.deepEqual(await numbersIn(database, all), numbers)
  assert.deepEqual(await numbersIn(database, { ...all, order: 'desc' }), numbers.toReversed())
  const between = { after: numbers[3] ?? 0, before: numbers[1_600] ?? 0, limit: 1_550 }
  assert.deepEqual(await numbersIn(database, { ...all, ...between }), numbers.slice(4, 1_554))
})

test('readLog() passes over what is not wanted, however much of it there is', async () => {
  const database = newDatabase(redis.client)
  const wanted = await commitEach(database, [1])
  await append(database, ...count(1_500).map(() => write([received(1)], { thingId: otherThing })))
  wanted.push(...(await commitEach(database, [2])))
  const query = { ...all, isOf: (thingId: string) => thingId === thing, limit: 2 }
  assert.deepEqual(await numbersIn(database, query), wanted)
  assert.deepEqual(await numbersIn(database, { ...query, order: 'desc', limit: 1 }), wanted.slice(1))
  assert.deepEqual(await readLog(database, { ...query, isOf: () => false }), [])
})

test('readLog() gives no commit of which nothing was kept', async () => {
  const database = newDatabase(redis.client)
  const same = measured(1_000, 1)
  const [first, , , , last] = await append(
    database,
    write([same]),
    write([received(2)], { store: false }),
    put([state(1)], { store: false }),
    write([same]),
    put([state(2)]),
  )
  assert.deepEqual(await numbersIn(database, all), [first?.writeNumber, last?.writeNumber])
})

test('readLog() ends a page with the commit with which its text is too much', async () => {
  const database = newDatabase(redis.client)
  const numbers: number[] = []
  const large = 'x'.repeat(60_000)
  for (const value of count(20)) {
    numbers.push(...(await commitEach(database, [value])))
    const [receipt] = await append(database, write([received(large), received(large)]))
    numbers.push(receipt?.writeNumber ?? 0)
  }
  const most = Math.ceil(maximumPageText / 120_000)
  assert.deepEqual(await numbersIn(database, all), numbers.slice(0, 2 * most))
  const last = { ...all, order: 'desc' } as const
  assert.deepEqual(await numbersIn(database, last), numbers.toReversed().slice(0, 2 * most - 1))
})

test('read-log.lua gives a piece of bounded size, and says where the next one begins', async () => {
  const database = newDatabase(redis.client)
  const numbers = await commitEach(
    database,
    count(100).map(() => 'x'.repeat(60_000)),
  )
  const script = new Script('read-log')
  const reply = await database.run(script, 'XRANGE', '-', '+', 100, 256 * 1024)
  const [entries, next] = reply as unknown as readonly [readonly LogEntry[], Buffer]
  assert.ok(entries.length < 30, `${entries.length} entries`)
  assert.equal(next.toString(), `(${numbers[entries.length - 1]}-0`)
})

test('trimLog() takes many at once, and passes over what is not there', async () => {
  const database = newDatabase(redis.client)
  const numbers = await commitEach(database, count(2_400))
  await crowdLog(database, Math.max(...numbers))
  await trimLog(database, [...numbers.filter((_, index) => index % 10 !== 0), 7, 8, 1_600_000])
  const left = numbers.filter((_, index) => index % 10 === 0)
  assert.deepEqual(await numbersIn(database, all), left)
})

/** Commits a record for each value, in a write of its own. */
async function commitEach(database: RedisDatabase, values: readonly unknown[]): Promise<number[]> {
  const receipts = await append(database, ...values.map(value => write([received(value)])))
  return receipts.map(({ writeNumber }) => writeNumber)
}

async function numbersIn(database: RedisDatabase, query: LogQuery): Promise<number[]> {
  return (await readLog(database, query)).map(({ writeNumber }) => writeNumber)
}
