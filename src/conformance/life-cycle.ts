import assert from 'node:assert/strict'
import { utcBuckets } from '../core/time/utc-buckets.ts'
import type { Store } from '../store/contract.ts'
import type { Suite } from './stage.ts'
import { count, key, received, refusal, thing, write } from './writes.ts'

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
    test(`${name}() works on an open store that is empty`, async stage => {
      const store = await stage.open()
      await call(store)
    })

    test(`${name}() that was called before close() is finished`, async stage => {
      const store = await stage.open()
      const called = call(store)
      await Promise.all([store.close(), called])
    })

    test(`${name}() rejects with store_unavailable once close() was called`, async stage => {
      const store = await stage.open()
      const closing = store.close()
      await assert.rejects(call(store), { reason: 'store_unavailable' })
      await closing
      await assert.rejects(call(store), { reason: 'store_unavailable' })
    })
  }

  test('close() resolves however often it is called', async stage => {
    const store = await stage.open()
    await Promise.all([store.close(), store.close()])
    await store.close()
  })

  test('close() waits for everything that was called before it', async stage => {
    const store = await stage.open()
    let settled = 0
    const working = count(20).flatMap(() =>
      Object.values(calls).map(call => call(store).then(() => settled++)),
    )
    await store.close()
    // What its callers see is only a few turns behind.
    await Promise.all(working)
    assert.equal(settled, working.length)
  })

  test('isReady() is true from open() to close()', async stage => {
    const store = await stage.open()
    assert.equal(store.isReady(), true)
    const closing = store.close()
    assert.equal(store.isReady(), false)
    await closing
    assert.equal(store.isReady(), false)
  })

  test('capabilities are what the suite was told', async stage => {
    const store = await stage.open()
    assert.deepEqual(store.capabilities, capabilities)
  })
}
