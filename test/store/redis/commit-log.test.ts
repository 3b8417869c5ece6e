import assert from 'node:assert/strict'
import { test } from 'vitest'
import { put, state } from '../../../src/conformance/views.ts'
import { count, measured, otherThing, received, thing, write } from '../../../src/conformance/writes.ts'
import { maximumPageText } from '../../../src/core/ports.ts'
import type { LogQuery } from '../../../src/store/contract.ts'
import { readLog, trimLog } from '../../../src/store/redis/commit-log.ts'
import type { LogEntry } from '../../../src/store/redis/log-entry.ts'
import type { Partition } from '../../../src/store/redis/partition.ts'
import { Script } from '../../../src/store/redis/script.ts'
import { redisOfTests } from '../../helpers/redis-of-test.ts'
import { append, crowdLog, newPartition } from './partitions.ts'

const redis = redisOfTests()

const all: LogQuery = { after: 0, before: Number.POSITIVE_INFINITY, order: 'asc', limit: 10_000 }

test('readLog() reads many pieces, either way', async () => {
  const partition = newPartition(redis.client)
  const numbers = await commitEach(partition, count(1_700))
  assert.deepEqual(await numbersIn([partition], all), numbers)
  assert.deepEqual(await numbersIn([partition], { ...all, order: 'desc' }), numbers.toReversed())
  const between = { after: numbers[3] ?? 0, before: numbers[1_600] ?? 0, limit: 1_550 }
  assert.deepEqual(await numbersIn([partition], { ...all, ...between }), numbers.slice(4, 1_554))
})

test('readLog() passes over what is not wanted, however much of it there is', async () => {
  const partition = newPartition(redis.client)
  const wanted = await commitEach(partition, [1])
  await append(partition, ...count(1_500).map(() => write([received(1)], { thingId: otherThing })))
  wanted.push(...(await commitEach(partition, [2])))
  const query = { ...all, isOf: (thingId: string) => thingId === thing, limit: 2 }
  assert.deepEqual(await numbersIn([partition], query), wanted)
  assert.deepEqual(await numbersIn([partition], { ...query, order: 'desc', limit: 1 }), wanted.slice(1))
  assert.deepEqual(await readLog([partition], { ...query, isOf: () => false }), [])
})

test('readLog() gives no commit of which nothing was kept', async () => {
  const partition = newPartition(redis.client)
  const same = measured(1_000, 1)
  const [first, , , , last] = await append(
    partition,
    write([same]),
    write([received(2)], { store: false }),
    put([state(1)], { store: false }),
    write([same]),
    put([state(2)]),
  )
  assert.deepEqual(await numbersIn([partition], all), [first?.writeNumber, last?.writeNumber])
})

test('readLog() reads several partitions in the order of their write numbers', async () => {
  const partitions = [0, 1, 2].map(number => newPartition(redis.client, number))
  const numbers: number[] = []
  for (const round of count(60)) {
    for (const [index, partition] of partitions.entries()) {
      if (round % (index + 1) === 0) numbers.push(...(await commitEach(partition, [round])))
    }
  }
  assert.deepEqual(
    numbers,
    numbers.toSorted((a, b) => a - b),
  )
  assert.deepEqual(await numbersIn(partitions, all), numbers)
  assert.deepEqual(await numbersIn(partitions, { ...all, order: 'desc' }), numbers.toReversed())
  assert.deepEqual(
    await numbersIn(partitions, { ...all, after: numbers[9] ?? 0, limit: 7 }),
    numbers.slice(10, 17),
  )
})

test('readLog() ends a page with the commit with which its text is too much', async () => {
  const partition = newPartition(redis.client)
  const numbers: number[] = []
  const large = 'x'.repeat(60_000)
  for (const value of count(20)) {
    numbers.push(...(await commitEach(partition, [value])))
    const [receipt] = await append(partition, write([received(large), received(large)]))
    numbers.push(receipt?.writeNumber ?? 0)
  }
  const most = Math.ceil(maximumPageText / 120_000)
  assert.deepEqual(await numbersIn([partition], all), numbers.slice(0, 2 * most))
  const last = { ...all, order: 'desc' } as const
  assert.deepEqual(await numbersIn([partition], last), numbers.toReversed().slice(0, 2 * most - 1))
})

test('read-log.lua gives a piece of bounded size, and says where the next one begins', async () => {
  const partition = newPartition(redis.client)
  const numbers = await commitEach(
    partition,
    count(100).map(() => 'x'.repeat(60_000)),
  )
  const script = new Script('read-log')
  const reply = await partition.run(script, 'XRANGE', '-', '+', 100, 256 * 1024)
  const [entries, next] = reply as unknown as readonly [readonly LogEntry[], Buffer]
  assert.ok(entries.length < 30, `${entries.length} entries`)
  assert.equal(next.toString(), `(${numbers[entries.length - 1]}-0`)
})

test('trimLog() takes from each partition the commits that are its own', async () => {
  const partitions = [0, 1].map(number => newPartition(redis.client, number))
  const numbers: number[] = []
  for (const partition of partitions) numbers.push(...(await commitEach(partition, count(1_200))))
  for (const partition of partitions) await crowdLog(partition, Math.max(...numbers))
  const trimmed = numbers.filter((_, index) => index % 10 !== 0)
  await trimLog(partitions, [...trimmed, 7, 8, 1_600_000])
  const left = numbers.filter((_, index) => index % 10 === 0)
  assert.deepEqual(
    await numbersIn(partitions, all),
    left.toSorted((a, b) => a - b),
  )
})

/** Commits a record for each value, in a write of its own. */
async function commitEach(partition: Partition, values: readonly unknown[]): Promise<number[]> {
  const receipts = await append(partition, ...values.map(value => write([received(value)])))
  return receipts.map(({ writeNumber }) => writeNumber)
}

async function numbersIn(partitions: readonly Partition[], query: LogQuery): Promise<number[]> {
  return (await readLog(partitions, query)).map(({ writeNumber }) => writeNumber)
}
