import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readWholeLog } from '../../../src/conformance/views.ts'
import type { RecordStore, Store } from '../../../src/store/contract.ts'
import { createLevelStore } from '../../../src/store/level/index.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

const thing = 'aaaaaaaaaaaaaaaa'
const other = 'bbbbbbbbbbbbbbbb'

test('readLog() of more things than are put in order at once gives what it gives of few', async () => {
  const { records } = await opened(join(await temporaryDirectory(), 'store'))
  const things = Array.from({ length: 110 }, (_, place) => `${place}`.padStart(16, 'a'))
  await appendAll(records, Array.from({ length: 100 }, () => things).flat())
  const whole = await readWholeLog(records, { limit: 1_000 })
  for (const isOf of [() => true, (thingId: string) => thingId !== things[7], isThing(things[7])]) {
    const expected = whole.filter(({ thingId }) => isOf(thingId))
    expect(await readWholeLog(records, { limit: 1_000, isOf })).toEqual(expected)
    expect(await readWholeLog(records, { order: 'desc', limit: 1_000, isOf })).toEqual(expected.toReversed())
  }
})

test('readLog() of a thing finds all that is left of a log that is trimmed and grows while it is learnt', async () => {
  const location = join(await temporaryDirectory(), 'store')
  const first = await opened(location)
  await appendAll(first.records, alternately(2_000))
  await first.close()
  const { records } = await opened(location)
  const before = await readWholeLog(records, { limit: 1_000 })
  // The first to ask for a thing has the log read: what is there since before the start is not known by thing until then.
  const learning = readWholeLog(records, { isOf: () => false })
  const trimmed = before.slice(600, 1_600).map(({ writeNumber }) => writeNumber)
  await Promise.all([records.trimLog(trimmed), appendAll(records, alternately(200))])
  await learning
  const left = (await readWholeLog(records, { limit: 1_000 })).filter(({ thingId }) => thingId === thing)
  expect(left.length).toBe(600)
  for (const limit of [10, 1_000]) {
    expect(await readWholeLog(records, { limit, isOf: isThing(thing) })).toEqual(left)
    const newestFirst = await readWholeLog(records, { order: 'desc', limit, isOf: isThing(thing) })
    expect(newestFirst).toEqual(left.toReversed())
  }
})

async function opened(location: string): Promise<Store> {
  const store = await openStore(createLevelStore({ location, durability: 'written' }))
  onTestFinished(() => store.close())
  store.records.logWhen(() => true)
  return store
}

let written = 0

/** A write of one record to each of the things, in this order. */
async function appendAll(records: RecordStore, things: readonly string[]): Promise<void> {
  const fixed = { store: true, broadcast: true, answer: {} }
  const record = () => ({ key: 'key', datetime: ++written, value: '1', place: 0, explicit: true })
  await Promise.all(things.map(thingId => records.append({ ...fixed, thingId, records: [record()] })))
}

function alternately(count: number): string[] {
  return Array.from({ length: count }, (_, place) => (place % 2 === 0 ? thing : other))
}

function isThing(wanted: string | undefined): (thingId: string) => boolean {
  return thingId => thingId === wanted
}
