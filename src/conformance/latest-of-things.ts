import assert from 'node:assert/strict'
import { maximumPageText } from '../core/ports.ts'
import type { Snapshot } from '../store/contract.ts'
import type { Suite } from './stage.ts'
import { collect, latestNow, put, type Row, state, stateful } from './views.ts'
import { count, key, measured, otherThing, received, thing, write } from './writes.ts'

/** Most records of a page of what is latest. */
const maximumPageRecords = 500

export function latestOfThings({ test }: Suite): void {
  test('latest() goes by datetime, then write, then place, never by arrival', async stage => {
    const { records } = await stage.open()
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

  test('latest() gives records as read() does', async stage => {
    const { records } = await stage.open()
    const geo = { lat: 41.4112345, long: -2.221234567890123 }
    const record = { ...measured(1_000, { b: 1, a: ['é'] }, { geo }), datetimeText: '19700101000001' }
    await records.append(write([record, { ...record, key: 'bare', geo: { lat: 0, long: 0 } }]))
    const snapshot = await records.snapshot()
    for (const { key, record } of await collect(snapshot.latest({}))) {
      assert.deepEqual([record], (await records.read(thing, key, { order: 'desc', limit: 1 }))?.records)
    }
    await snapshot.close()
  })

  test('latest() leaves out what was emptied or taken away, and finds it when it is there again', async stage => {
    const { records } = await stage.open()
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

  test('latest() has a magic resource by its state, not by its history', async stage => {
    const { records } = await stage.open()
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

  test('latest() selects by thing, by key, by both or by none, and nothing that is like them', async stage => {
    const { records } = await stage.open()
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

  test('latest() gives pages of a bounded number, and everything once', async stage => {
    const { records } = await stage.open()
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

  test('latest() gives pages of bounded text', async stage => {
    const { records } = await stage.open()
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

  test('latest() can be read many times over, and several snapshots at once', async stage => {
    const { records } = await stage.open()
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
