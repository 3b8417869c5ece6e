import { join } from 'node:path'
import type { AbstractIterator } from 'abstract-level'
import { ClassicLevel } from 'classic-level'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { readWholeLog } from '../../../../src/conformance/views.ts'
import type { Commit, RecordStore, Store } from '../../../../src/store/contract.ts'
import { createLevelStore } from '../../../../src/store/level/index.ts'
import { openStore } from '../../../../src/store/open-store.ts'
import { temporaryDirectory } from '../../../helpers/temporary-directory.ts'

const thing = 'aaaaaaaaaaaaaaaa'
const other = 'bbbbbbbbbbbbbbbb'
const whole = { after: 0, before: Number.POSITIVE_INFINITY }

afterEach(() => vi.restoreAllMocks())

test('readLog() of a thing reads no entry of another thing that was written since the start', async () => {
  const { records } = await opened(join(await temporaryDirectory(), 'store'))
  await appendAll(records, alternately(200))
  const expected = await logOf(records, thing)
  const scanned = vi.spyOn(ClassicLevel.prototype, 'iterator')
  const read = vi.spyOn(ClassicLevel.prototype, 'getMany')
  for (const order of ['asc', 'desc'] as const) {
    read.mockClear()
    const page = await records.readLog({ ...whole, order, limit: 1_000, isOf: isThing(thing) })
    expect(page).toEqual(order === 'asc' ? expected : expected.toReversed())
    expect(read.mock.calls.flatMap(([keys]) => keys).length).toBe(expected.length)
  }
  expect(scanned).not.toHaveBeenCalled()
})

test('readLog() of a thing gives what is left of a log that was trimmed before and after a start', async () => {
  const location = join(await temporaryDirectory(), 'store')
  const first = await opened(location)
  await appendAll(first.records, alternately(200))
  await trimSome(first.records)
  await first.close()
  const { records } = await opened(location)
  await appendAll(records, alternately(200))
  await trimSome(records)
  const expected = await logOf(records, thing)
  expect(expected.length).toBeGreaterThan(80)
  for (const limit of [1, 7, 1_000]) {
    expect(await readWholeLog(records, { limit, isOf: isThing(thing) })).toEqual(expected)
    const newestFirst = await readWholeLog(records, { order: 'desc', limit, isOf: isThing(thing) })
    expect(newestFirst).toEqual(expected.toReversed())
  }
})

test('readLog() of a thing misses nothing of a log of more commits than are known by thing, and that grows', async () => {
  const { records } = await opened(join(await temporaryDirectory(), 'store'))
  await appendAll(records, mostly(110_000))
  // While it reads those that are not known any more, some of those that were known become so too.
  let grown: Promise<void> | undefined
  beforeScanning(() => {
    grown ??= appendAll(records, mostly(60_000))
    return grown
  })
  const page = await records.readLog({ ...whole, order: 'asc', limit: 1_000, isOf: isThing(thing) })
  vi.restoreAllMocks()
  const expected = await logOf(records, thing)
  expect(expected.length).toBe(1_700)
  expect(page).toEqual(expected.slice(0, 1_000))
  expect(await readWholeLog(records, { limit: 1_000, isOf: isThing(thing) })).toEqual(expected)
  const newestFirst = await readWholeLog(records, { order: 'desc', limit: 1_000, isOf: isThing(thing) })
  expect(newestFirst).toEqual(expected.toReversed())
})

/** Has every iterator wait for this before it reads, until mocks are restored. */
function beforeScanning(wait: () => Promise<void>): void {
  const prototype: { iterator: (options: object) => AbstractIterator<ClassicLevel, string, string> } =
    ClassicLevel.prototype
  const begin = prototype.iterator
  vi.spyOn(prototype, 'iterator').mockImplementation(function (this: ClassicLevel, options) {
    const iterator = begin.call(this, options)
    const nextv = iterator.nextv.bind(iterator)
    iterator.nextv = async (size: number) => {
      await wait()
      return await nextv(size)
    }
    return iterator
  })
}

async function opened(location: string): Promise<Store> {
  const store = await openStore(createLevelStore({ location, durability: 'written' }))
  onTestFinished(() => store.close())
  store.records.logWhen(() => true)
  return store
}

const together = 1_000
let written = 0

/** A write of one record to each of the things, in this order. */
async function appendAll(records: RecordStore, things: readonly string[]): Promise<void> {
  const fixed = { store: true, broadcast: true, answer: {} }
  const record = () => ({ key: 'key', datetime: ++written, value: '1', place: 0, explicit: true })
  // All at once, the last of many would not be committed in time.
  for (let at = 0; at < things.length; at += together) {
    const some = things.slice(at, at + together)
    await Promise.all(some.map(thingId => records.append({ ...fixed, thingId, records: [record()] })))
  }
}

/** What the log has of a thing, by a reader that is asked for every thing. */
async function logOf(records: RecordStore, wanted: string): Promise<readonly Commit[]> {
  return (await readWholeLog(records, { limit: 1_000 })).filter(({ thingId }) => thingId === wanted)
}

/** Takes every third commit of either thing, and some that stand together, out of the log. */
async function trimSome(records: RecordStore): Promise<void> {
  const all = await readWholeLog(records, { limit: 1_000 })
  const trimmed = all.filter((_, place) => place % 3 === 0 || (place > 50 && place < 90))
  await records.trimLog(trimmed.map(({ writeNumber }) => writeNumber))
}

/** One in a hundred is of the thing, and not the first: that would be where the known part begins. */
function mostly(count: number): string[] {
  return Array.from({ length: count }, (_, place) => (place % 100 === 37 ? thing : other))
}

function alternately(count: number): string[] {
  return Array.from({ length: count }, (_, place) => (place % 2 === 0 ? other : thing))
}

function isThing(wanted: string | undefined): (thingId: string) => boolean {
  return thingId => thingId === wanted
}
