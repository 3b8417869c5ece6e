import assert from 'node:assert/strict'
import type { StoredRecord } from '../core/record/record.ts'
import type { Commit } from '../store/contract.ts'
import type { Suite } from './stage.ts'
import { listen, numbersOf } from './views.ts'
import { ascending, count, measured, otherThing, readAll, received, thing, write } from './writes.ts'

const valueIn = ({ records: [record] }: Commit) => record?.value

export function listeners({ test }: Suite): void {
  test('onCommit() tells a commit as it was appended, before the append resolves', async stage => {
    const { records } = await stage.open()
    const told = listen(records)
    const geo = { lat: 1, long: 2 }
    const batch = write([measured(2_000, 'b', { geo }), received('a')])
    let toldBefore = 0
    const { writeNumber } = await records.append(batch).finally(() => {
      toldBefore = told.length
    })
    assert.equal(toldBefore, 1)
    const receivedAt = told[0]?.receivedAt ?? 0
    const appended = batch.records.map(record =>
      record.explicit ? record : { ...record, datetime: receivedAt },
    )
    assert.deepEqual(told, [
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
    assert.equal(told[1]?.broadcast, false)
  })

  test('onCommit() tells commits in commit order', async stage => {
    const { records } = await stage.open()
    const told = listen(records)
    const resolved: number[] = []
    const appends = count(200).map(async value => {
      const more = { thingId: value % 3 === 0 ? otherThing : thing, store: value % 5 !== 0 }
      const { writeNumber } = await records.append(write([received(value)], more))
      const isTold = told.some(
        commit => commit.writeNumber === writeNumber && valueIn(commit) === String(value),
      )
      assert.equal(isTold, true, `the append of ${value} resolved before its commit was told`)
      resolved.push(writeNumber)
    })
    await Promise.all(appends)
    assert.deepEqual(told.map(valueIn), count(200).map(String))
    for (const thingId of [thing, otherThing]) {
      const numbers = numbersOf(told.filter(commit => commit.thingId === thingId))
      assert.deepEqual(numbers, ascending(new Set(numbers)))
    }
    assert.equal(resolved.length, 200)
  })

  test('onCommit() tells every listener until it is stopped', async stage => {
    const { records } = await stage.open()
    const told: string[] = []
    const stop = records.onCommit(() => told.push('first'))
    records.onCommit(() => told.push('second'))
    await records.append(write([received(1)]))
    assert.deepEqual(told.toSorted(), ['first', 'second'])
    stop()
    stop()
    await records.append(write([received(2)]))
    assert.deepEqual(told.toSorted(), ['first', 'second', 'second'])
  })

  test('onCommit() has the records of a stored commit readable when it is called', async stage => {
    const { records } = await stage.open()
    const reads: Promise<readonly StoredRecord[]>[] = []
    // A store that tells too late is told off below, not by a rejection that nobody handles.
    records.onCommit(() => reads.push(readAll(records).catch(() => [])))
    await records.append(write([measured(1_000, 'a')]))
    assert.deepEqual(await Promise.all(reads), [[{ key: 'temperature', datetime: 1_000, value: '"a"' }]])
  })
}
