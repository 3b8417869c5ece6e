import assert from 'node:assert/strict'
import type { LatestQuery } from '../store/contract.ts'
import type { Suite } from './stage.ts'
import { collect, listen, type Row, rowsOf, state, stateful } from './views.ts'
import { count, key, measured, otherThing, received, thing, write } from './writes.ts'

export function snapshots({ test, capabilities }: Suite): void {
  test('snapshot() of an empty store holds nothing', async ({ records }) => {
    const snapshot = await records.snapshot()
    assert.equal(snapshot.writeNumber, 0)
    for (const query of [{}, { thingId: thing }, { key }, { thingId: thing, key }, { key: stateful }]) {
      assert.deepEqual(await collect(snapshot.latest(query)), [])
    }
    await snapshot.close()
  })

  test('snapshot() sees all that was appended before the call, and no more', async ({ records }) => {
    for (const round of count(20)) {
      const value = (part: string) => received(`${round} ${part}`)
      const before = count(5).map(() => records.append(write([value('before')])))
      const taking = records.snapshot()
      const after = count(5).map(() => records.append(write([value('after')])))
      const snapshot = await taking
      const receipts = await Promise.all(before)
      assert.equal(snapshot.writeNumber, receipts.at(-1)?.writeNumber)
      assert.deepEqual(rowsOf(await collect(snapshot.latest({}))), [[thing, key, `${round} before`]])
      await Promise.all(after)
      assert.deepEqual(rowsOf(await collect(snapshot.latest({ key }))), [[thing, key, `${round} before`]])
      await snapshot.close()
    }
  })

  test('snapshot() is exact at its write number, whatever is appended around it', async ({ records }) => {
    const delivered = listen(records)
    const views: (readonly [writeNumber: number, rows: Row[]])[] = []
    const working = count(300).map(async value => {
      const states = value % 2 === 0 ? [state(value)] : []
      const thingId = value % 3 === 0 ? otherThing : thing
      const appending = records.append(write([measured(value, value)], { thingId, states }))
      const snapshot = value % 4 === 0 ? await records.snapshot() : undefined
      if (snapshot) views.push([snapshot.writeNumber, rowsOf(await collect(snapshot.latest({})))])
      await Promise.all([appending, snapshot?.close()])
    })
    await Promise.all(working)
    for (const [writeNumber, rows] of views) {
      const latest = new Map<string, Row>()
      for (const commit of delivered.filter(each => each.writeNumber <= writeNumber)) {
        for (const { key, value } of [
          ...commit.records,
          ...commit.latest.flatMap(({ record }) => record ?? []),
        ])
          latest.set(`${commit.thingId} ${key}`, [commit.thingId, key, JSON.parse(value)])
      }
      const expected = [...latest].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
      assert.deepEqual(rows, expected)
    }
  })

  test('snapshot() has the number of a write of which nothing was kept', async ({ records }) => {
    await records.append(write([received('kept')]))
    const { writeNumber } = await records.append(write([received('passing')], { store: false }))
    const snapshot = await records.snapshot()
    assert.equal(snapshot.writeNumber, writeNumber)
    assert.deepEqual(rowsOf(await collect(snapshot.latest({}))), [[thing, key, 'kept']])
    await snapshot.close()
  })

  test('snapshot() stays unchanged, whatever is written and removed after it', async ({ records }) => {
    const all = [received('a'), received('b', { key: 'other' }), measured(1_000, 'first', { key: 'third' })]
    await records.append(write(all, { states: [state('s')] }))
    await records.append(write([received('c')], { thingId: otherThing }))
    const snapshot = await records.snapshot()
    const before = rowsOf(await collect(snapshot.latest({})))
    assert.equal(before.length, 5)
    await records.append(write([received('newer')], { states: [{ key: stateful, record: undefined }] }))
    await records.append(write([received('new', { key: 'new' })], { states: [state(1, { key: '$new' })] }))
    await records.remove(thing, 'third', {})
    await records.append(write([measured(500, 'again', { key: 'third' })]))
    if (!capabilities.shared) await records.removeThing(otherThing)
    for (const query of [{}, { thingId: thing }, { thingId: otherThing }, { key }, { key: 'third' }]) {
      const { thingId = undefined, key = undefined }: LatestQuery = query
      const expected = before.filter(row => (thingId ?? row[0]) === row[0] && (key ?? row[1]) === row[1])
      assert.deepEqual(rowsOf(await collect(snapshot.latest(query))), expected)
    }
    await snapshot.close()
  })
}

/** Enough records for more than two pages of `latest`. */
const manyRecords = count(1_500).map(number => received(number, { key: `key-${number}` }))
const closed = { reason: 'store_unavailable' }

export function snapshotLife({ test }: Suite): void {
  test('close() of a snapshot ends its own readers alone', async ({ records }) => {
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

  test('close() of a snapshot does not wait for a reader that stopped', async ({ records }) => {
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

  test('close() of the store does not wait for a snapshot, whose readers then reject', async store => {
    await store.records.append(write(manyRecords))
    const [idle, read] = await Promise.all([store.records.snapshot(), store.records.snapshot()])
    const reader = read.latest({})[Symbol.asyncIterator]()
    await reader.next()
    await store.close()
    await assert.rejects(reader.next(), closed)
    await assert.rejects(collect(idle.latest({})), closed)
    await Promise.all([idle.close(), read.close()])
  })

  test('close() of the store ends a snapshot that is being read', async store => {
    await store.records.append(write(manyRecords))
    const taking = store.records.snapshot()
    const reading = taking.then(snapshot => collect(snapshot.latest({})))
    const outcome = assert.rejects(reading, closed)
    await taking
    await store.close()
    await outcome
  })
}
