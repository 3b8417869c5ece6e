import assert from 'node:assert/strict'
import type { StoredRecord } from '../core/record/record.ts'
import type { Commit } from '../store/contract.ts'
import type { Suite } from './stage.ts'
import { latestNow, listen, numbersOf, plain, put, state, stateful } from './views.ts'
import {
  ascending,
  count,
  key,
  measured,
  otherThing,
  readAll,
  received,
  tenSeconds,
  thing,
  valuesOf,
  write,
} from './writes.ts'

const valueIn = ({ records: [record] }: Commit) => record?.value

export function listeners({ test }: Suite): void {
  test('onCommit() delivers a commit as it was appended, before the append resolves', async ({ records }) => {
    const delivered = listen(records)
    const geo = { lat: 1, long: 2 }
    const batch = write([measured(2_000, 'b', { geo }), received('a')])
    let deliveredBefore = 0
    const { writeNumber } = await records.append(batch).finally(() => {
      deliveredBefore = delivered.length
    })
    assert.equal(deliveredBefore, 1)
    const receivedAt = delivered[0]?.receivedAt ?? 0
    const appended = batch.records.map(record =>
      record.explicit ? record : { ...record, datetime: receivedAt },
    )
    assert.deepEqual(delivered, [
      {
        thingId: thing,
        writeNumber,
        receivedAt,
        records: appended,
        latest: [],
        stored: true,
        broadcast: true,
      },
    ])
    await records.append(write([received('c')], { broadcast: false }))
    assert.equal(delivered[1]?.broadcast, false)
  })

  test('onCommit() delivers commits in commit order', async ({ records }) => {
    const delivered = listen(records)
    const resolved: number[] = []
    const appends = count(200).map(async value => {
      const more = { thingId: value % 3 === 0 ? otherThing : thing, store: value % 5 !== 0 }
      const { writeNumber } = await records.append(write([received(value)], more))
      const isDelivered = delivered.some(
        commit => commit.writeNumber === writeNumber && valueIn(commit) === String(value),
      )
      assert.equal(isDelivered, true, `the append of ${value} resolved before its commit was delivered`)
      resolved.push(writeNumber)
    })
    await Promise.all(appends)
    assert.deepEqual(delivered.map(valueIn), count(200).map(String))
    for (const thingId of [thing, otherThing]) {
      const numbers = numbersOf(delivered.filter(commit => commit.thingId === thingId))
      assert.deepEqual(numbers, ascending(new Set(numbers)))
    }
    assert.equal(resolved.length, 200)
  })

  test('onCommit() calls every listener until it is stopped', async ({ records }) => {
    const delivered: string[] = []
    const stop = records.onCommit(() => delivered.push('first'))
    records.onCommit(() => delivered.push('second'))
    await records.append(write([received(1)]))
    assert.deepEqual(delivered.toSorted(), ['first', 'second'])
    stop()
    stop()
    await records.append(write([received(2)]))
    assert.deepEqual(delivered.toSorted(), ['first', 'second', 'second'])
  })

  test('onCommit() calls its listener when the records of the commit can be read', async ({ records }) => {
    const reads: Promise<readonly StoredRecord[]>[] = []
    // The error is caught, so that a failed read fails the assertion below and is not an unhandled rejection.
    records.onCommit(() => reads.push(readAll(records).catch(() => [])))
    await records.append(write([measured(1_000, 'a')]))
    assert.deepEqual(await Promise.all(reads), [[{ key: 'temperature', datetime: 1_000, value: '"a"' }]])
  })
}

export function removalDelivered({ test, testStage, capabilities }: Suite): void {
  test('remove() of the newest record delivers the next one before it resolves', async ({ records }) => {
    const geo = { lat: 1.5, long: 2.25 }
    await records.append(write([...tenSeconds, measured(8_500, 'before', { geo })]))
    const delivered = listen(records)
    const before = await records.append(write([received(1)], { thingId: otherThing }))
    const receivedAt = delivered.pop()?.receivedAt
    let deliveredBefore = 0
    const removing = records.remove(thing, key, { from: 9_000 }).finally(() => {
      deliveredBefore = delivered.length
    })
    assert.equal(await removing, 1)
    assert.equal(deliveredBefore, 1)
    const record = { key, datetime: 8_500, value: '"before"', geo }
    const writeNumber = delivered[0]?.writeNumber ?? 0
    assert.deepEqual(delivered, [
      {
        thingId: thing,
        writeNumber,
        receivedAt,
        records: [],
        latest: [{ key, record }],
        stored: true,
        broadcast: true,
      },
    ])
    const after = await records.append(write([received(2)]))
    const numbers = [before.writeNumber, writeNumber, after.writeNumber]
    assert.deepEqual(numbers, ascending(new Set(numbers)))
  })

  test('remove() of everything delivers that there is no latest record', async ({ records }) => {
    await records.append(write([...tenSeconds, measured(1, 'other', { key: 'other' })]))
    const delivered = listen(records)
    await records.remove(thing, key, {})
    const latest = delivered.map(({ latest }) => latest)
    assert.deepEqual(latest, [[{ key, record: undefined }]])
    await records.remove(thing, key, {})
    assert.equal(delivered.length, 1)
  })

  test('remove() delivers nothing if the newest record stays, or there is none', async ({ records }) => {
    await records.append(write(tenSeconds))
    const delivered = listen(records)
    await records.remove(thing, key, { to: 9_000 })
    await records.remove(thing, key, { from: 9_001 })
    await records.remove(thing, key, { from: 9_000, to: 9_000 })
    await records.remove(thing, 'other', {})
    await records.remove(otherThing, key, {})
    assert.deepEqual(delivered, [])
    assert.deepEqual(await valuesOf(records), [9])
  })

  test('remove() delivers nothing for a magic resource, and keeps its state', async ({ records }) => {
    await records.append(write([received(1, { key: stateful })], { states: [state(1)] }))
    const delivered = listen(records)
    assert.equal(await records.remove(thing, stateful, {}), 1)
    assert.deepEqual(delivered, [])
    assert.deepEqual(await latestNow(records), [[thing, stateful, 1]])
  })

  test('removeThing() delivers nothing', async ({ records }) => {
    await records.append(write([received(1), received(2, { key: 'other' })], { states: [state(1)] }))
    const delivered = listen(records)
    await records.removeThing(thing)
    assert.deepEqual(delivered, [])
    assert.deepEqual(await latestNow(records), [])
    assert.equal(await records.state(thing, stateful), undefined)
  })

  test('remove() delivers the record that is the latest at its write number', async ({ records }) => {
    const delivered = listen(records)
    const others: Promise<unknown>[] = []
    for (const round of count(40)) {
      await records.append(write([...tenSeconds, measured(20_000, `${round} newest`)]))
      const removing = records.remove(thing, key, { from: (round % 4) * 5_000 })
      others.push(records.append(write([measured(15_000 + round, `${round} late`)])))
      if (round % 2 === 0) others.push(records.append(write([measured(30_000, `${round} newer`)])))
      for (let turns = 0; turns < round; turns++) await Promise.resolve()
      others.push(records.append(write([measured(12_000, `${round} later`)])))
      await removing
      others.push(records.append(put([state(round)])))
      await Promise.all(others)
      assert.equal(follow(delivered), JSON.stringify((await latestNow(records, { key }))[0]?.[2]))
      if (round % 5 === 0) await records.remove(thing, key, {})
    }
    const numbers = numbersOf(delivered)
    assert.deepEqual(numbers, ascending(new Set(numbers)))
  })

  test('remove() called several times at once delivers the final latest record', async ({ records }) => {
    await records.append(write(tenSeconds))
    const delivered = listen(records)
    const ranges = [{ from: 9_000 }, { from: 5_000 }, { to: 3_000 }, { from: 8_000 }]
    const removed = await Promise.all(ranges.map(range => records.remove(thing, key, range)))
    const sum = removed.reduce((sum, each) => sum + each)
    assert.equal(sum, 8)
    assert.equal(delivered.at(-1)?.latest[0]?.record?.value, '4')
  })

  if (!capabilities.durable) return

  testStage('open() does not reuse the write number of a delivered removal', async stage => {
    const before = await stage.open()
    const delivered = listen(before.records)
    before.records.logWhen(() => true)
    await before.records.append(write(tenSeconds))
    await before.records.remove(thing, key, { from: 9_000 })
    const { records } = await stage.reopen()
    const { writeNumber } = await records.append(write([received(1)]))
    const deliveredWith = delivered[1]?.writeNumber ?? assert.fail('nothing was delivered')
    assert.ok(writeNumber > deliveredWith, `write number ${writeNumber} after ${deliveredWith}`)
    const log = await records.readLog({ after: 0, before: writeNumber, order: 'asc', limit: 10 })
    assert.deepEqual(log.map(plain), delivered)
  })
}

/** The latest value (JSON text) of `temperature`, computed only from the delivered commits. */
function follow(delivered: readonly Commit[]): string | undefined {
  let latest: { readonly datetime: number; readonly value: string } | undefined
  for (const { thingId, records, latest: states } of delivered) {
    if (thingId !== thing) continue
    for (const record of records) {
      if (record.key === key && (!latest || record.datetime >= latest.datetime)) latest = record
    }
    for (const state of states) if (state.key === key) latest = state.record
  }
  return latest?.value
}
