import assert from 'node:assert/strict'
import { maximumPageText } from '../core/ports.ts'
import type { Snapshot } from '../store/contract.ts'
import type { Suite } from './stage.ts'
import { collect, latestNow, listen, put, type Row, state, stateful } from './views.ts'
import { count, key, measured, otherThing, received, thing, valuesOf, write } from './writes.ts'

const newest = { order: 'desc', limit: 1 } as const

/** Milliseconds. */
const hour = 3_600_000

export function latest({ test }: Suite): void {
  test('read() finds the latest record by datetime, not by arrival', async ({ records }) => {
    await records.append(write([measured(5_000, 'newest')]))
    await records.append(write([measured(4_000, 'late')]))
    assert.deepEqual(await valuesOf(records, newest), ['newest'])
    await records.append(write([measured(5_000, 'same datetime, later write')]))
    assert.deepEqual(await valuesOf(records, newest), ['same datetime, later write'])
    await records.append(write([measured(4_999, 'late again')]))
    assert.deepEqual(await valuesOf(records, newest), ['same datetime, later write'])
    await records.append(write([received('now')]))
    await records.append(write([measured(Date.now() + hour, 'ahead'), measured(Date.now() - hour, 'behind')]))
    assert.deepEqual(await valuesOf(records, newest), ['ahead'])
  })

  test('append() with store false is delivered, but changes nothing that is read', async ({ records }) => {
    await records.append(write([measured(1_000, 'kept')]))
    const delivered: unknown[] = []
    records.onCommit(commit =>
      delivered.push(...commit.records.map(({ value }) => JSON.parse(value)), commit.writeNumber),
    )
    const passing = [measured(2_000, 'passing'), measured(2_000, 1, { key: 'other' })]
    const { writeNumber } = await records.append(write(passing, { store: false }))
    assert.notEqual(writeNumber, 0)
    assert.deepEqual(delivered, ['passing', 1, writeNumber])
    assert.deepEqual(await valuesOf(records), ['kept'])
    assert.deepEqual(await records.resources(thing), ['temperature'])
    const next = await records.append(write([measured(3_000, 'kept too')]))
    assert.ok(next.writeNumber > writeNumber, `write number ${next.writeNumber} after ${writeNumber}`)
  })

  test('resources() lists the keys that hold records, sorted by their bytes', async ({ records }) => {
    const keys = ['b', '$geo', 'a.b', 'Z', 'a', '_', '-', 'a-b', '10', '2', '$settings.a', '.']
    for (const key of keys) await records.append(write([received(1, { key }), received(2, { key })]))
    const sorted = ['$geo', '$settings.a', '-', '.', '10', '2', 'Z', '_', 'a', 'a-b', 'a.b', 'b']
    assert.deepEqual(await records.resources(thing), sorted)
    assert.deepEqual(await records.resources(otherThing), [])
  })

  test('resources() lists thousands of keys', async ({ records }) => {
    const keys = count(5_000).map(number => `sensor-${String(number).padStart(5, '0')}`)
    await records.append(write(keys.toReversed().map(key => received(key, { key }))))
    assert.deepEqual(await records.resources(thing), keys)
    assert.deepEqual(await valuesOf(records, { key: 'sensor-01234' }), ['sensor-01234'])
  })
}

/** Maximum number of records in a page of `latest`. */
const maximumPageRecords = 500

export function latestOfThings({ test }: Suite): void {
  test('latest() compares datetime, then write number, then place, never arrival', async ({ records }) => {
    const latest = async () => (await latestNow(records)).map(([, , value]) => value)
    await records.append(write([measured(5_000, 'newest'), measured(4_000, 'behind')]))
    await records.append(write([measured(4_999, 'late')]))
    assert.deepEqual(await latest(), ['newest'])
    await records.append(write([measured(5_000, 'tie'), measured(5_000, 'tie, next place')]))
    assert.deepEqual(await latest(), ['tie, next place'])
    await records.append(write([measured(5_000, 'newest')]))
    assert.deepEqual(await latest(), ['tie, next place'])
    await records.append(write([measured(Date.now() + 3_600_000, 'ahead'), received('now')]))
    assert.deepEqual(await latest(), ['ahead'])
  })

  test('latest() gives records as read() does', async ({ records }) => {
    const geo = { lat: 41.4112345, long: -2.221234567890123 }
    const record = { ...measured(1_000, { b: 1, a: ['é'] }, { geo }), datetimeText: '19700101000001' }
    await records.append(write([record, { ...record, key: 'bare', geo: { lat: 0, long: 0 } }]))
    const snapshot = await records.snapshot()
    for (const { key, record } of await collect(snapshot.latest({}))) {
      assert.deepEqual([record], (await records.read(thing, key, { order: 'desc', limit: 1 }))?.records)
    }
    await snapshot.close()
  })

  test('latest() leaves out emptied resources and removed states until refilled', async ({ records }) => {
    await records.append(write([measured(2_000, 2), measured(1_000, 1)], { states: [state('s')] }))
    await records.remove(thing, key, { from: 2_000 })
    assert.deepEqual(await latestNow(records, { key }), [[thing, key, 1]])
    await records.append(write([measured(1_500, 'late')]))
    assert.deepEqual(await latestNow(records, { key }), [[thing, key, 'late']])
    await records.remove(thing, key, {})
    await records.append(put([{ key: stateful, record: undefined }]))
    for (const query of [{}, { thingId: thing }, { key }, { thingId: thing, key }, { key: stateful }]) {
      assert.deepEqual(await latestNow(records, query), [])
    }
    await records.append(write([measured(500, 'again')], { states: [state('again')] }))
    const again = [
      [thing, stateful, 'again'],
      [thing, key, 'again'],
    ] as const
    assert.deepEqual(await latestNow(records), again)
    assert.deepEqual(await latestNow(records, { key }), [again[1]])
    assert.deepEqual(await latestNow(records, { key: stateful }), [again[0]])
  })

  test('latest() gives the state of a magic resource, not its history', async ({ records }) => {
    const histories = [stateful, '$settings', '$settings.a', '$settings.a.b', '$other']
    await records.append(write(histories.map(key => received('history', { key }))))
    for (const query of [{}, { thingId: thing }, ...histories.map(key => ({ key }))]) {
      assert.deepEqual(await latestNow(records, query), [])
    }
    await records.append(put([state('state')]))
    for (const query of [{}, { thingId: thing }, { key: stateful }, { thingId: thing, key: stateful }]) {
      assert.deepEqual(await latestNow(records, query), [[thing, stateful, 'state']])
    }
    assert.deepEqual(await latestNow(records, { key: '$settings' }), [])
  })

  test('latest() selects by whole thing ids and keys, by both or by neither', async ({ records }) => {
    const things = [thing, `${thing}a`, thing.slice(1), otherThing, `${otherThing}x`]
    const keys = ['a', 'a.b', 'ab', 'xa', '0', '-', '_', 'x'.repeat(128), 'b']
    const magic = [stateful, '$geo.a', '$settings']
    for (const thingId of things) {
      const states = magic.map(key => state(`${thingId} ${key}`, { key }))
      const ordinary = keys.map(key => received(`${thingId} ${key}`, { key }))
      await records.append(write(ordinary, { thingId, states }))
    }
    const all: Row[] = things.flatMap(thingId =>
      [...keys, ...magic].map((key): Row => [thingId, key, `${thingId} ${key}`]),
    )
    const sorted = all.toSorted(([a, b], [c, d]) => (`${a} ${b}` < `${c} ${d}` ? -1 : 1))
    assert.deepEqual(await latestNow(records), sorted)
    for (const thingId of things) {
      const ofThing = sorted.filter(row => row[0] === thingId)
      assert.deepEqual(await latestNow(records, { thingId }), ofThing)
      const one = [[thingId, 'a.b', `${thingId} a.b`]]
      assert.deepEqual(await latestNow(records, { thingId, key: 'a.b' }), one)
    }
    for (const key of [...keys, ...magic]) {
      const ofKey = sorted.filter(row => row[1] === key)
      assert.deepEqual(await latestNow(records, { key }), ofKey)
    }
    for (const query of [
      { thingId: thing.slice(0, -1) },
      { thingId: '' },
      { key: '' },
      { key: '$' },
      { key: 'x' },
      { thingId: thing, key: 'a.' },
      { thingId: 'nobody', key: 'a' },
      { thingId: thing, key: '$se' },
    ]) {
      assert.deepEqual(await latestNow(records, query), [])
    }
  })

  test('latest() gives each resource once, in pages of at most 500', async ({ records }) => {
    const things = count(40).map(number => `thing-${String(number).padStart(4, '0')}`)
    const keys = count(50).map(number => `key-${String(number).padStart(2, '0')}`)
    const newRecords = keys.map(key => received(1, { key }))
    await Promise.all(
      things.map(thingId => records.append(write(newRecords, { thingId, states: [state(1)] }))),
    )
    const snapshot = await records.snapshot()
    const names: string[] = []
    for await (const page of snapshot.latest({})) {
      assert.ok(page.length > 0 && page.length <= maximumPageRecords, `a page of ${page.length} records`)
      names.push(...page.map(({ thingId, key }) => `${thingId} ${key}`))
    }
    const expected = things.flatMap(thingId => [...keys, stateful].map(key => `${thingId} ${key}`))
    assert.deepEqual(names.toSorted(), expected.toSorted())
    await snapshot.close()
  })

  test('latest() gives pages of bounded text', async ({ records }) => {
    const large = 'x'.repeat(60 * 1024)
    const keys = count(60).map(number => `key-${number}`)
    for (const some of [keys.slice(0, 30), keys.slice(30)]) {
      await records.append(write(some.map(key => received(large, { key }))))
    }
    await records.append(put(keys.map(key => state(large, { key: `$${key}` }))))
    const snapshot = await records.snapshot()
    let found = 0
    for await (const page of snapshot.latest({ thingId: thing })) {
      const text = page.slice(0, -1).reduce((sum, { record }) => sum + record.value.length, 0)
      assert.ok(text < maximumPageText, `a page of ${text} characters and one record more`)
      found += page.length
    }
    assert.equal(found, 2 * keys.length)
    await snapshot.close()
  })

  test('latest() can be read repeatedly, and from several snapshots at once', async ({ records }) => {
    const taken: Snapshot[] = []
    for (const value of count(10)) {
      await records.append(write(count(30).map(number => received(value, { key: `key-${number}` }))))
      taken.push(await records.snapshot())
    }
    const reading = [...taken.keys(), ...taken.keys()].map(async value => {
      const latest = await collect(taken[value]?.latest({}) ?? assert.fail())
      assert.equal(latest.length, 30)
      for (const { record } of latest) assert.equal(record.value, String(value))
    })
    await Promise.all(reading)
    await Promise.all(taken.map(snapshot => snapshot.close()))
  })
}

export function states({ test, testStage, capabilities }: Suite): void {
  test('append() keeps and delivers the states that it carries', async ({ records }) => {
    const delivered = listen(records)
    const geo = state({ type: 'Point', coordinates: [2.22, 41.41] }, { datetime: 5_000 })
    const settings = state({ name: 'a' }, { key: '$settings', geo: { lat: 41.41, long: -2.2212345678901 } })
    assert.equal(await records.state(thing, stateful), undefined)
    await records.append(write([received(1)], { states: [geo, settings] }))
    assert.deepEqual(delivered[0]?.latest, [geo, settings])
    assert.deepEqual(await records.state(thing, stateful), geo.record)
    assert.deepEqual(await records.state(thing, '$settings'), settings.record)
    assert.equal(await records.state(otherThing, stateful), undefined)
    assert.deepEqual(await valuesOf(records), [1])
  })

  test('append() of states alone has a write number, and stores no record', async ({ records }) => {
    const delivered = listen(records)
    const first = await records.append(put([state(1)]))
    const second = await records.append(put([state(2)], { broadcast: false }))
    const numbers = [first.writeNumber, second.writeNumber] as const
    assert.ok(numbers[0] > 0 && numbers[1] > numbers[0], `write numbers ${numbers.join(', ')}`)
    const commit = { thingId: thing, records: [], stored: true }
    assert.deepEqual(
      delivered.map(({ receivedAt: _, ...said }) => said),
      [
        { ...commit, writeNumber: first.writeNumber, latest: [state(1)], broadcast: true },
        { ...commit, writeNumber: second.writeNumber, latest: [state(2)], broadcast: false },
      ],
    )
    assert.deepEqual(await records.resources(thing), [])
    assert.equal(await records.read(thing, stateful, { order: 'asc', limit: 1 }), undefined)
  })

  test('append() replaces a state whatever its datetime, or removes it', async ({ records }) => {
    await records.append(put([state('new', { datetime: 9_000 }), state('s', { key: '$settings' })]))
    await records.append(put([state('old', { datetime: 0 })]))
    assert.deepEqual(await records.state(thing, stateful), state('old', { datetime: 0 }).record)
    const delivered = listen(records)
    const gone = { key: stateful, record: undefined }
    await records.append(put([gone]))
    assert.deepEqual(delivered[0]?.latest, [gone])
    assert.equal(await records.state(thing, stateful), undefined)
    await records.append(put([gone]))
    assert.deepEqual(await latestNow(records), [[thing, '$settings', 's']])
  })

  test('append() keeps the same members of a state as of a record', async ({ records }) => {
    const delivered = listen(records)
    const record = { key: stateful, datetime: 1_000, value: '1', place: 3, datetimeText: '19700101000001' }
    await records.append(put([{ key: stateful, record }]))
    const kept = { key: stateful, datetime: 1_000, value: '1' }
    assert.deepEqual(await records.state(thing, stateful), kept)
    assert.deepEqual(delivered[0]?.latest, [{ key: stateful, record: kept }])
  })

  test('append() with store false delivers states and keeps none', async ({ records }) => {
    await records.append(put([state('kept')]))
    const delivered = listen(records)
    await records.append(put([state('passing')], { store: false }))
    await records.append(put([{ key: stateful, record: undefined }], { store: false }))
    assert.deepEqual(
      delivered.map(({ latest, stored }) => [latest, stored]),
      [
        [[state('passing')], false],
        [[{ key: stateful, record: undefined }], false],
      ],
    )
    assert.deepEqual(await records.state(thing, stateful), state('kept').record)
    assert.deepEqual(await latestNow(records), [[thing, stateful, 'kept']])
  })

  test('append() that repeats a write id leaves the states alone', async ({ records }) => {
    await records.append(put([state('first')], { id: 'a' }))
    await records.append(put([state('second')]))
    const delivered = listen(records)
    const again = await records.append(put([state('first')], { id: 'a' }))
    assert.equal(again.writeNumber, 0)
    assert.deepEqual(delivered, [])
    assert.deepEqual(await records.state(thing, stateful), state('second').record)
  })

  test('append() puts states in commit order, with the records of their write', async ({ records }) => {
    const delivered = listen(records)
    const writes = count(100).map(value => write([received(value)], { states: [state(value)] }))
    await Promise.all(writes.map(each => records.append(each)))
    const puts = delivered.map(({ latest }) => latest)
    const expected = count(100).map(value => [state(value)])
    assert.deepEqual(puts, expected)
    assert.deepEqual(await records.state(thing, stateful), state(99).record)
    assert.deepEqual(await valuesOf(records, { order: 'desc', limit: 1 }), [99])
  })

  test('state() and the records under its key do not change each other', async ({ records }) => {
    await records.append(write([received('history', { key: stateful })]))
    assert.equal(await records.state(thing, stateful), undefined)
    await records.append(put([state('state')]))
    assert.deepEqual(await valuesOf(records, { key: stateful }), ['history'])
    await records.remove(thing, stateful, {})
    assert.deepEqual(await records.state(thing, stateful), state('state').record)
  })

  test('state() gives a value back unchanged', async ({ records }) => {
    const values = ['{ "b": 1.50, "a": [] }', '"\\ud800"', `"${'é'.repeat(32_000)}"`, 'null', '"\\u0000"']
    for (const value of values) {
      const record = { key: stateful, datetime: 0, value, geo: { lat: -90, long: 0.1 + 0.2 } }
      await records.append(put([{ key: stateful, record }]))
      assert.deepEqual(await records.state(thing, stateful), record)
    }
  })

  if (!capabilities.durable) return

  testStage('open() finds the states that were put, and none that was removed', async stage => {
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
