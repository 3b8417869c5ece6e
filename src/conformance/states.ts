import assert from 'node:assert/strict'
import type { Suite } from './stage.ts'
import { latestNow, listen, put, state, stateful } from './views.ts'
import { count, otherThing, received, thing, valuesOf, write } from './writes.ts'

export function states({ test, capabilities }: Suite): void {
  test('append() keeps and tells the states that it carries', async stage => {
    const { records } = await stage.open()
    const told = listen(records)
    const geo = state({ type: 'Point', coordinates: [2.22, 41.41] }, { datetime: 5_000 })
    const settings = state({ name: 'a' }, { key: '$settings', geo: { lat: 41.41, long: -2.2212345678901 } })
    assert.equal(await records.state(thing, stateful), undefined)
    await records.append(write([received(1)], { states: [geo, settings] }))
    assert.deepEqual(told[0]?.latest, [geo, settings])
    assert.deepEqual(await records.state(thing, stateful), geo.record)
    assert.deepEqual(await records.state(thing, '$settings'), settings.record)
    assert.equal(await records.state(otherThing, stateful), undefined)
    assert.deepEqual(await valuesOf(records), [1])
  })

  test('append() of states alone is a commit with a write number, and writes no record', async stage => {
    const { records } = await stage.open()
    const told = listen(records)
    const first = await records.append(put([state(1)]))
    const second = await records.append(put([state(2)], { broadcast: false }))
    const numbers = [first.writeNumber, second.writeNumber] as const
    assert.ok(numbers[0] > 0 && numbers[1] > numbers[0], `write numbers ${numbers.join(', ')}`)
    const commit = { thingId: thing, records: [], stored: true }
    assert.deepEqual(
      told.map(({ receivedAt: _, ...said }) => said),
      [
        { ...commit, writeNumber: first.writeNumber, latest: [state(1)], broadcast: true },
        { ...commit, writeNumber: second.writeNumber, latest: [state(2)], broadcast: false },
      ],
    )
    assert.deepEqual(await records.resources(thing), [])
    assert.equal(await records.read(thing, stateful, { order: 'asc', limit: 1 }), undefined)
  })

  test('append() replaces a state whatever its datetime, and takes it away where none is given', async stage => {
    const { records } = await stage.open()
    await records.append(put([state('new', { datetime: 9_000 }), state('s', { key: '$settings' })]))
    await records.append(put([state('old', { datetime: 0 })]))
    assert.deepEqual(await records.state(thing, stateful), state('old', { datetime: 0 }).record)
    const told = listen(records)
    const gone = { key: stateful, record: undefined }
    await records.append(put([gone]))
    assert.deepEqual(told[0]?.latest, [gone])
    assert.equal(await records.state(thing, stateful), undefined)
    await records.append(put([gone]))
    assert.deepEqual(await latestNow(records), [[thing, '$settings', 's']])
  })

  test('append() keeps of a state what a store keeps of a record', async stage => {
    const { records } = await stage.open()
    const told = listen(records)
    const record = { key: stateful, datetime: 1_000, value: '1', place: 3, datetimeText: '19700101000001' }
    await records.append(put([{ key: stateful, record }]))
    const kept = { key: stateful, datetime: 1_000, value: '1' }
    assert.deepEqual(await records.state(thing, stateful), kept)
    assert.deepEqual(told[0]?.latest, [{ key: stateful, record: kept }])
  })

  test('append() with store false tells states and keeps none', async stage => {
    const { records } = await stage.open()
    await records.append(put([state('kept')]))
    const told = listen(records)
    await records.append(put([state('passing')], { store: false }))
    await records.append(put([{ key: stateful, record: undefined }], { store: false }))
    assert.deepEqual(
      told.map(({ latest, stored }) => [latest, stored]),
      [
        [[state('passing')], false],
        [[{ key: stateful, record: undefined }], false],
      ],
    )
    assert.deepEqual(await records.state(thing, stateful), state('kept').record)
    assert.deepEqual(await latestNow(records), [[thing, stateful, 'kept']])
  })

  test('append() that repeats a write id leaves the states alone', async stage => {
    const { records } = await stage.open()
    await records.append(put([state('first')], { id: 'a' }))
    await records.append(put([state('second')]))
    const told = listen(records)
    const again = await records.append(put([state('first')], { id: 'a' }))
    assert.equal(again.writeNumber, 0)
    assert.deepEqual(told, [])
    assert.deepEqual(await records.state(thing, stateful), state('second').record)
  })

  test('append() puts states in commit order, together with the records of their write', async stage => {
    const { records } = await stage.open()
    const told = listen(records)
    const writes = count(100).map(value => write([received(value)], { states: [state(value)] }))
    await Promise.all(writes.map(each => records.append(each)))
    assert.deepEqual(
      told.map(({ latest }) => latest),
      count(100).map(value => [state(value)]),
    )
    assert.deepEqual(await records.state(thing, stateful), state(99).record)
    assert.deepEqual(await valuesOf(records, { order: 'desc', limit: 1 }), [99])
  })

  test('state() is not what is written under the key, nor the other way round', async stage => {
    const { records } = await stage.open()
    await records.append(write([received('history', { key: stateful })]))
    assert.equal(await records.state(thing, stateful), undefined)
    await records.append(put([state('state')]))
    assert.deepEqual(await valuesOf(records, { key: stateful }), ['history'])
    await records.remove(thing, stateful, {})
    assert.deepEqual(await records.state(thing, stateful), state('state').record)
  })

  test('state() gives a value back to the letter', async stage => {
    const { records } = await stage.open()
    const values = ['{ "b": 1.50, "a": [] }', '"\\ud800"', `"${'é'.repeat(32_000)}"`, 'null', '"\\u0000"']
    for (const value of values) {
      const record = { key: stateful, datetime: 0, value, geo: { lat: -90, long: 0.1 + 0.2 } }
      await records.append(put([{ key: stateful, record }]))
      assert.deepEqual(await records.state(thing, stateful), record)
    }
  })

  if (!capabilities.durable) return

  test('open() finds the states that were put, and none that was taken away', async stage => {
    const before = await stage.open()
    await before.records.append(put([state('a'), state('b', { key: '$settings' })]))
    await before.records.append(put([{ key: stateful, record: undefined }]))
    const { writeNumber } = await before.records.append(put([state('c', { key: '$settings' })]))
    const { records } = await stage.reopen()
    assert.equal(await records.state(thing, stateful), undefined)
    assert.deepEqual(await records.state(thing, '$settings'), state('c', { key: '$settings' }).record)
    assert.deepEqual(await latestNow(records), [[thing, '$settings', 'c']])
    const next = await records.append(put([state(1)]))
    assert.ok(next.writeNumber > writeNumber, `write number ${next.writeNumber} after ${writeNumber}`)
  })
}
