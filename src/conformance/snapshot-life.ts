import assert from 'node:assert/strict'
import type { Suite } from './stage.ts'
import { collect } from './views.ts'
import { count, received, write } from './writes.ts'

/** More than two pages. */
const manyRecords = count(1_500).map(number => received(number, { key: `key-${number}` }))
const closed = { reason: 'store_unavailable' }

export function snapshotLife({ test }: Suite): void {
  test('close() of a snapshot ends what reads it, and nothing else', async stage => {
    const { records } = await stage.open()
    await records.append(write(manyRecords))
    const [snapshot, other] = await Promise.all([records.snapshot(), records.snapshot()])
    const reader = snapshot.latest({})[Symbol.asyncIterator]()
    await reader.next()
    await Promise.all([snapshot.close(), snapshot.close()])
    await snapshot.close()
    await assert.rejects(reader.next(), closed)
    await assert.rejects(collect(snapshot.latest({})), closed)
    assert.equal((await collect(other.latest({}))).length, manyRecords.length)
    await other.close()
  })

  test('close() of a snapshot is not held up by a reader that left off', async stage => {
    const { records } = await stage.open()
    await records.append(write(manyRecords))
    const snapshot = await records.snapshot()
    for await (const page of snapshot.latest({})) {
      assert.notEqual(page.length, 0)
      break
    }
    const reader = snapshot.latest({})[Symbol.asyncIterator]()
    await reader.next()
    await snapshot.close()
  })

  test('close() of the store is not held up by a snapshot, whose reader learns of it', async stage => {
    const store = await stage.open()
    await store.records.append(write(manyRecords))
    const [idle, read] = await Promise.all([store.records.snapshot(), store.records.snapshot()])
    const reader = read.latest({})[Symbol.asyncIterator]()
    await reader.next()
    await store.close()
    await assert.rejects(reader.next(), closed)
    await assert.rejects(collect(idle.latest({})), closed)
    await Promise.all([idle.close(), read.close()])
  })

  test('close() of the store ends a snapshot that is being read', async stage => {
    const store = await stage.open()
    await store.records.append(write(manyRecords))
    const taking = store.records.snapshot()
    const reading = taking.then(snapshot => collect(snapshot.latest({})))
    const outcome = assert.rejects(reading, closed)
    await taking
    await store.close()
    await outcome
  })
}
