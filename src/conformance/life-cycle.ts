import assert from 'node:assert/strict'
import { utcBuckets } from '../core/time/utc-buckets.ts'
import type { Store } from '../store/contract.ts'
import type { Suite } from './stage.ts'
import {
  count,
  key,
  measured,
  otherThing,
  readAll,
  received,
  refusal,
  thing,
  valuesOf,
  write,
} from './writes.ts'

const calls: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  'records.append': ({ records }) => records.append(write([received(1)])),
  'records.answerOf': ({ records }) => records.answerOf(thing, 'a', Date.now()),
  'records.read': ({ records }) => records.read(thing, key, { order: 'asc', limit: 1 }),
  'records.aggregate': ({ records }) =>
    records.aggregate(thing, key, { order: 'asc', limit: 1, buckets: utcBuckets(1_000) }),
  'records.resources': ({ records }) => records.resources(thing),
  'records.state': ({ records }) => records.state(thing, '$geo'),
  'records.snapshot': ({ records }) => records.snapshot(),
  'records.catchUp': ({ records }) => records.catchUp(),
  'records.readLog': ({ records }) =>
    records.readLog({ after: 0, before: Number.POSITIVE_INFINITY, order: 'asc', limit: 1 }),
  'records.trimLog': ({ records }) => records.trimLog([1]),
  'records.remove': ({ records }) => records.remove(thing, key, {}),
  'records.removeThing': ({ records }) => records.removeThing(thing),
  'documents.get': ({ documents }) => documents.get('a'),
  'documents.getInOrder': ({ documents }) => documents.getInOrder('a'),
  'documents.list': ({ documents }) => documents.list('a', { limit: 1 }),
  'documents.names': ({ documents }) => documents.names('a', { limit: 1 }),
  'documents.put': ({ documents }) => documents.put({ a: {} }, 'keep'),
  'documents.transact': ({ documents }) =>
    documents.transact(['a'], () => ({ put: { a: {} }, result: 1, purpose: 'keep' })),
  'refused.add': ({ refused }) => refused.add(thing, refusal(1)),
  'refused.list': ({ refused }) => refused.list(thing, 1),
}

export function lifeCycle({ test, capabilities }: Suite): void {
  for (const [name, call] of Object.entries(calls)) {
    test(`${name}() works on an open store that is empty`, async store => {
      await call(store)
    })

    test(`${name}() is finished if it was called before close()`, async store => {
      const called = call(store)
      await Promise.all([store.close(), called])
    })

    test(`${name}() rejects with store_unavailable once close() has been called`, async store => {
      const closing = store.close()
      await assert.rejects(call(store), { reason: 'store_unavailable' })
      await closing
      await assert.rejects(call(store), { reason: 'store_unavailable' })
    })
  }

  test('close() resolves however often it is called', async store => {
    await Promise.all([store.close(), store.close()])
    await store.close()
  })

  test('close() waits for everything that was called before it', async store => {
    let settled = 0
    const working = count(20).flatMap(() =>
      Object.values(calls).map(call => call(store).then(() => settled++)),
    )
    await store.close()
    // The writes settle a few turns of the event loop after close() resolves.
    await Promise.all(working)
    assert.equal(settled, working.length)
  })

  test('isReady() is true from open() to close()', async store => {
    assert.equal(store.isReady(), true)
    const closing = store.close()
    assert.equal(store.isReady(), false)
    await closing
    assert.equal(store.isReady(), false)
  })

  test('capabilities are those that the suite was given', async store => {
    assert.deepEqual(store.capabilities, capabilities)
  })
}

export function durability({ testStage, capabilities }: Suite): void {
  if (!capabilities.durable) return

  testStage('open() finds the records and resources that were stored', async stage => {
    const before = await stage.open()
    const geo = { lat: 41.41, long: 2.22 }
    await before.records.append(
      write([measured(3_000, 'c'), measured(1_000, 'a', { geo }), measured(3_000, 'd')]),
    )
    await before.records.append(write([measured(2_000, 'b')]))
    await before.records.append(write([received(1, { key: 'other' })], { thingId: otherThing }))
    const stored = await readAll(before.records)
    const { records } = await stage.reopen()
    assert.deepEqual(await readAll(records), stored)
    assert.deepEqual(await valuesOf(records), ['a', 'b', 'c', 'd'])
    assert.deepEqual(await records.resources(thing), ['temperature'])
    assert.deepEqual(await records.resources(otherThing), ['other'])
  })

  testStage('open() continues the write numbers, so that ties stay in order', async stage => {
    let newest = 0
    for (const round of count(4)) {
      const { records, close } = await stage.open()
      for (const value of [`${round} a`, `${round} b`]) {
        const { writeNumber } = await records.append(write([received(value)]))
        assert.ok(writeNumber > newest, `write number ${writeNumber} after ${newest}`)
        newest = writeNumber
      }
      await close()
    }
    const { records } = await stage.open()
    const expected = count(4).flatMap(round => [`${round} a`, `${round} b`])
    assert.deepEqual(await valuesOf(records), expected)
  })

  testStage('open() accepts a cursor from before the close()', async stage => {
    const before = await stage.open()
    await before.records.append(write(count(10).map(value => measured(1_000, value))))
    const first = await before.records.read(thing, 'temperature', { order: 'desc', limit: 4 })
    const { records } = await stage.reopen()
    const rest = await valuesOf(records, { order: 'desc', cursor: first?.next ?? '' })
    assert.deepEqual(rest, [5, 4, 3, 2, 1, 0])
  })

  testStage('close() during appends loses none that resolved, and leaves no partial write', async stage => {
    const size = 20
    const before = await stage.open()
    const acknowledged: number[] = []
    const appends = count(300).map(async round => {
      const batch = count(size).map(place => measured(round, `${round} ${place}`))
      await before.records.append(write(batch))
      acknowledged.push(round)
    })
    const settled = Promise.allSettled([...appends, before.close()])
    const late = before.records.append(write([measured(0, 'late')]))
    await assert.rejects(late, { reason: 'store_unavailable' })
    await settled
    const { records } = await stage.open()
    const counts = new Map<number, number>()
    for (const { datetime } of await readAll(records)) counts.set(datetime, (counts.get(datetime) ?? 0) + 1)
    for (const round of acknowledged) assert.equal(counts.get(round), size, `write ${round} is not whole`)
    for (const [round, found] of counts) assert.equal(found, size, `write ${round} is half`)
  })

  testStage('open() refuses a store in a newer format', async stage => {
    const before = await stage.open()
    await before.records.append(write([received(1)]))
    await before.close()
    assert.ok(stage.place.writeNewerFormat, 'the factory of a durable store must provide writeNewerFormat()')
    await stage.place.writeNewerFormat()
    await assert.rejects(stage.open())
  })

  if (capabilities.shared) return

  testStage('open() refuses a place that another store has open, and does no harm', async stage => {
    const holder = await stage.open()
    await holder.records.append(write([received(1)]))
    await assert.rejects(stage.open())
    await holder.records.append(write([received(2)]))
    assert.deepEqual(await valuesOf(holder.records), [1, 2])
    const { records } = await stage.reopen()
    assert.deepEqual(await valuesOf(records), [1, 2])
  })
}
