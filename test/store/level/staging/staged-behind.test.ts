import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  appendTo,
  givenUp,
  measured,
  measuredAt,
  readAll,
  received,
  waitedFor,
  write,
} from '../../../../src/conformance/writes.ts'
import type { Append, Commit, DriverRecords, Receipt } from '../../../../src/store/contract.ts'
import { createLevelStore } from '../../../../src/store/level/index.ts'
import { createMemoryStore } from '../../../../src/store/memory/index.ts'
import { temporaryDirectory } from '../../../helpers/temporary-directory.ts'
import { writeBatches } from '../write-batches.ts'

const wholeLog = { after: 0, before: Number.POSITIVE_INFINITY, order: 'asc', limit: 100 } as const
const refused = { reason: 'store_unavailable' }

let location: string

beforeEach(async () => {
  location = join(await temporaryDirectory(), 'store')
  vi.useFakeTimers({ toFake: ['Date'], now: measuredAt })
})

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

async function open() {
  const driver = createLevelStore({ location })
  await driver.open()
  driver.records.logWhen(() => true)
  return driver
}

/** Holds the next batch back until it is let go, or reports it as failed although it is on the disk. */
function holdNextBatch() {
  let settle: (error?: Error) => void = () => {}
  let announce: () => void = () => {}
  let isNext = true
  const held = new Promise<Error | undefined>(resolve => (settle = resolve))
  const begun = new Promise<void>(resolve => (announce = resolve))
  writeBatches(async written => {
    if (!isNext) return await written()
    isNext = false
    announce()
    await written()
    const error = await held
    if (error) throw error
  })
  return { begun, settle }
}

const batchesBegun = () => vi.mocked(ClassicLevel.prototype.batch).mock.calls.length

const append = (records: DriverRecords, each: Append) => appendTo(records, each, waitedFor())

/** Appends of which each comes so much later than the one before, milliseconds. */
type Later = readonly [after: number, write: Append]

function appendLater(records: DriverRecords, [after, each]: Later): Promise<Receipt> {
  vi.setSystemTime(Date.now() + after)
  return append(records, each)
}

/** What a store has after `first`, and then each of `others`. */
async function inMemory(first: Append, others: readonly Later[]) {
  vi.setSystemTime(measuredAt)
  const driver = createMemoryStore()
  await driver.open()
  driver.records.logWhen(() => true)
  await append(driver.records, first)
  const receipts: Receipt[] = []
  for (const each of others) receipts.push(await appendLater(driver.records, each))
  return { receipts, ...(await contentsOf(driver.records)) }
}

async function contentsOf(records: DriverRecords) {
  return {
    temperatures: await readAll(records),
    depths: await readAll(records, { key: 'depth' }),
    log: await records.readLog(wholeLog),
  }
}

const first = write([measured(1_000, 1), received(2)])

test.each<[string, readonly Later[], number]>([
  [
    'newer records, and those of the moment of its newest one',
    [
      [0, write([received(3), received(4)])],
      [1, write([received(2), received(3)])],
      [0, write([received('°', { geo: { lat: 1, long: 2 } })], { store: false })],
      [0, write([received(5)], { broadcast: false })],
    ],
    2,
  ],
  [
    'records of an earlier moment, some of them its own',
    [
      [0, write([received(3)])],
      [0, write([measured(1_000, 1), measured(1_000, 2)])],
      [0, write([measured(900, 1)])],
    ],
    3,
  ],
  [
    'a new resource',
    [
      [0, write([received(3)])],
      [0, write([{ ...received(4), key: 'depth' }])],
      [0, write([received(5)])],
    ],
    3,
  ],
  [
    'a write id, twice',
    [
      [0, write([received(3)], { id: 'a' })],
      [0, write([received(4)], { id: 'a' })],
    ],
    3,
  ],
])('append() while a group is written keeps %s', async (_, others, batches) => {
  const driver = await open()
  const { begun, settle } = holdNextBatch()
  const before = append(driver.records, first)
  await begun
  const receipts = others.map(each => appendLater(driver.records, each))
  expect(batchesBegun()).toBe(2)
  settle()
  await before
  const expected = await inMemory(first, others)
  expect({ receipts: await Promise.all(receipts), ...(await contentsOf(driver.records)) }).toEqual(expected)
  expect(batchesBegun()).toBe(batches)
  await driver.close()
  const reopened = await open()
  expect({ receipts: expected.receipts, ...(await contentsOf(reopened.records)) }).toEqual(expected)
  await reopened.close()
})

test('append() while a group is written fails with it, and nothing of either is kept', async () => {
  const driver = await open()
  const { records } = driver
  await append(records, write([measured(1, 0)]))
  const told: Commit[] = []
  records.onCommit(commit => told.push(commit))
  const contents = await contentsOf(records)
  const { begun, settle } = holdNextBatch()
  const failing = [expect(append(records, first)).rejects.toMatchObject(refused)]
  await begun
  const behind = [write([received(3)]), write([received('°', { geo: { lat: 1, long: 2 } })])]
  failing.push(...behind.map(each => expect(append(records, each)).rejects.toMatchObject(refused)))
  expect(batchesBegun()).toBe(2)
  settle(Object.assign(new Error('fsync: input/output error'), { code: 'LEVEL_IO_ERROR' }))
  await Promise.all(failing)
  expect(await contentsOf(records)).toEqual(contents)
  expect(told).toEqual([])
  const again = await Promise.all(behind.map(each => append(records, each)))
  expect(again.map(({ writeNumber }) => writeNumber)).toEqual([2, 3])
  const kept = (await readAll(records)).map(({ value }) => value)
  expect(kept).toEqual(['0', '3', '"°"'])
  await driver.close()
  const reopened = await open()
  expect((await readAll(reopened.records)).map(({ value }) => value)).toEqual(kept)
  await reopened.close()
})

test('append() is not taken for one that was rejected with a group whose listener threw', async () => {
  const driver = await open()
  const { records } = driver
  const stop = records.onCommit(() => {
    throw new Error('a defect')
  })
  const { begun, settle } = holdNextBatch()
  const failing = [expect(append(records, first)).rejects.toThrow('a defect')]
  await begun
  failing.push(expect(append(records, write([received(3)]))).rejects.toThrow('a defect'))
  expect(batchesBegun()).toBe(2)
  settle()
  await Promise.all(failing)
  stop()
  expect(await append(records, write([received(4)]))).toEqual({ writeNumber: 2, answer: {} })
  expect((await readAll(records)).map(({ value }) => value)).toEqual(['1', '2', '4'])
  await driver.close()
})

test('append() whose time is up before the group in front is written is not kept', async () => {
  const driver = await open()
  const { records } = driver
  const { begun, settle } = holdNextBatch()
  const before = append(records, first)
  await begun
  const late = { ...waitedFor(), expired: false }
  const behind = [
    append(records, write([received(3)])),
    expect(appendTo(records, write([received(4)]), late)).rejects.toMatchObject({ reason: 'store_timeout' }),
    expect(appendTo(records, write([received(5)]), givenUp)).rejects.toMatchObject({
      reason: 'store_timeout',
    }),
    append(records, write([received(6)])),
  ]
  late.expired = true
  settle()
  await before
  await Promise.all(behind)
  expect((await readAll(records)).map(({ value }) => value)).toEqual(['1', '2', '3', '6'])
  expect((await records.readLog(wholeLog)).map(({ writeNumber }) => writeNumber)).toEqual([1, 2, 3])
  await driver.close()
})
