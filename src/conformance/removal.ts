import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import type { Suite } from './stage.ts'
import { latestNow, listen, numbersOf, plain, state, stateful } from './views.ts'
import {
  appendEach,
  count,
  key,
  measured,
  otherThing,
  readAll,
  received,
  removeAllOld,
  tenSeconds,
  thing,
  valuesOf,
  write,
} from './writes.ts'

export function removal({ test, testStage, capabilities }: Suite): void {
  test('remove() removes a range, its end exclusive, and returns the number', async ({ records }) => {
    await appendEach(records, tenSeconds)
    assert.equal(await records.remove(thing, key, { from: 3_000, to: 5_000 }), 2)
    assert.deepEqual(await valuesOf(records), [0, 1, 2, 5, 6, 7, 8, 9])
    assert.equal(await records.remove(thing, key, { from: 3_000, to: 5_000 }), 0)
    assert.equal(await records.remove(thing, key, { from: 7_001 }), 2)
    assert.equal(await records.remove(thing, key, { to: 1_000 }), 1)
    assert.equal(await records.remove(thing, key, { from: 6_000, to: 6_000 }), 0)
    assert.equal(await records.remove(thing, key, { from: 7_000, to: 1_000 }), 0)
    assert.deepEqual(await valuesOf(records), [1, 2, 5, 6, 7])
  })

  test('remove() of everything leaves a known key without records', async ({ records }) => {
    await records.append(write([...tenSeconds, measured(1_000, 'kept', { key: 'other' })]))
    assert.equal(await records.remove(thing, key, {}), 10)
    assert.deepEqual(await records.resources(thing), ['other'])
    assert.deepEqual(await records.read(thing, key, { order: 'desc', limit: 1 }), { records: [] })
    assert.equal(await records.remove(thing, key, {}), 0)
    await records.append(write([measured(500, 'new')]))
    assert.deepEqual(await records.resources(thing), ['other', key])
    assert.deepEqual(await valuesOf(records), ['new'])
  })

  test('remove() of everything in two ranges leaves a known key without records', async ({ records }) => {
    await records.append(write(tenSeconds))
    assert.equal(await records.remove(thing, key, { from: 5_000 }), 5)
    assert.equal(await records.remove(thing, key, { to: 5_000 }), 5)
    assert.deepEqual(await records.resources(thing), [])
    assert.deepEqual(await records.read(thing, key, { order: 'desc', limit: 1 }), { records: [] })
  })

  test('remove() removes nothing under an unknown key or of an unknown thing', async ({ records }) => {
    assert.equal(await records.remove(thing, key, {}), 0)
    await records.append(write(tenSeconds))
    assert.equal(await records.remove(thing, 'other', {}), 0)
    assert.equal(await records.remove(otherThing, key, {}), 0)
  })

  test('remove() removes earlier records, and none that are appended while it runs', async ({ records }) => {
    const old = count(2_000).map(value => measured(value, value))
    await records.append(write(old))
    const removing = records.remove(thing, key, {})
    const appending = count(50).map(value => records.append(write([measured(value * 40, `new ${value}`)])))
    const [removed] = await Promise.all([removing, ...appending])
    assert.equal(removed, old.length)
    const expected = count(50).map(value => `new ${value}`)
    assert.deepEqual(await valuesOf(records), expected)
    assert.deepEqual(await records.resources(thing), [key])
  })

  test('remove() loses no record that is appended while it empties the resource', async ({ records }) => {
    for (const round of count(30)) {
      await records.append(write([measured(round, `old ${round}`)]))
      const removing = records.remove(thing, key, {})
      await Promise.all([removing, records.append(write([measured(round, `new ${round}`)]))])
      assert.deepEqual(await valuesOf(records), [`new ${round}`])
      assert.deepEqual(await records.resources(thing), [key])
      await records.remove(thing, key, {})
    }
  })

  test('remove() that is called twice at once counts each record once', async ({ records }) => {
    await records.append(write(tenSeconds))
    const removed = await Promise.all([records.remove(thing, key, {}), records.remove(thing, key, {})])
    assert.equal(removed[0] + removed[1], 10)
  })

  test('remove() of the newest record makes the one before it the latest', async ({ records }) => {
    await records.append(write(tenSeconds))
    await records.remove(thing, key, { from: 9_000 })
    assert.deepEqual(await valuesOf(records, { order: 'desc', limit: 1 }), [8])
    await records.append(write([measured(8_500, 'late')]))
    assert.deepEqual(await valuesOf(records, { order: 'desc', limit: 2 }), ['late', 8])
  })

  if (!capabilities.durable) return

  testStage('remove() still holds when the store is reopened', async stage => {
    const before = await stage.open()
    await before.records.append(write([...tenSeconds, measured(1, 1, { key: 'emptied' })]))
    await before.records.remove(thing, key, { from: 2_000 })
    await before.records.remove(thing, 'emptied', {})
    const { records } = await stage.reopen()
    assert.deepEqual(await valuesOf(records), [0, 1])
    assert.deepEqual(await records.resources(thing), [key])
  })
}

export function removalOfOld({ test, capabilities }: Suite): void {
  test('removeOld() removes records from before a datetime, and returns the number', async ({ records }) => {
    await appendEach(records, tenSeconds)
    assert.equal(await removeAllOld(records, 3_000), 3)
    assert.equal(await removeAllOld(records, 3_000), 0)
    assert.equal(await removeAllOld(records, -1_000), 0)
    assert.deepEqual(await valuesOf(records), count(10).slice(3))
    assert.equal(await removeAllOld(records, 3_001), 1)
  })

  test('removeOld() leaves the newest record of a resource, the last of tied ones', async ({ records }) => {
    await records.append(
      write([...tenSeconds, measured(9_000, 'of the same datetime'), measured(9_000, 'last')]),
    )
    assert.equal(await removeAllOld(records, 1_000_000), 11)
    assert.deepEqual(await valuesOf(records), ['last'])
    assert.deepEqual(await latestNow(records), [[thing, key, 'last']])
    assert.deepEqual(await records.resources(thing), [key])
  })

  test('removeOld() delivers nothing, and logs nothing', async ({ records }) => {
    const { writeNumber } = await records.append(write(tenSeconds))
    records.logWhen(() => true)
    const delivered = listen(records)
    assert.equal(await removeAllOld(records, 1_000_000), 9)
    const last = await records.append(write([measured(20_000, 'next')]))
    assert.deepEqual(numbersOf(delivered), [last.writeNumber])
    const part = { after: writeNumber, before: Number.POSITIVE_INFINITY, order: 'asc', limit: 10 } as const
    assert.deepEqual((await records.readLog(part)).map(plain), delivered)
  })

  test('removeOld() of a magic resource removes its history, not its state', async ({ records }) => {
    const history = count(3).map(value => measured(value, value, { key: stateful }))
    await records.append(write(history, { states: [state('kept')] }))
    assert.equal(await removeAllOld(records, 1_000, stateful), 2)
    assert.deepEqual(await valuesOf(records, { key: stateful }), [2])
    assert.equal((await records.state(thing, stateful))?.value, '"kept"')
  })

  test('removeOld() removes nothing under an unknown key or of an unknown thing', async ({ records }) => {
    assert.equal(await removeAllOld(records, 1_000), 0)
    await records.append(write([...tenSeconds, measured(0, 'other', { key: 'other' })]))
    await records.append(write(tenSeconds, { thingId: otherThing }))
    assert.equal(await removeAllOld(records, 5_000), 5)
    assert.equal((await readAll(records, { key: 'other' })).length, 1)
    assert.equal((await readAll(records, { thingId: otherThing })).length, 10)
  })

  test('removeOld() works in pieces while others are appended and removed', async ({ records }) => {
    const many = count(3_000).map(value => measured(value, value))
    await records.append(write(many))
    const removing = removeAllOld(records, 10_000)
    const newer = count(50).map(value => records.append(write([measured(10_000 + value, `new ${value}`)])))
    const [removed, also] = await Promise.all([
      removing,
      records.remove(thing, key, { from: 2_500, to: 3_000 }),
      ...newer,
    ])
    // removeOld() keeps the newest record, so the record that was the newest during the first removal may remain.
    const left = await removeAllOld(records, 10_000)
    assert.equal(removed + also + left, many.length)
    const expected = count(50).map(value => `new ${value}`)
    assert.deepEqual(await valuesOf(records), expected)
  })

  test('removeOld() beside remove() leaves the record that is delivered as latest', async ({ records }) => {
    for (const round of count(40)) {
      await records.append(write(count(100).map(value => measured(value, `${round} ${value}`))))
      const delivered = listen(records)
      const removing = records.remove(thing, key, { from: 50 })
      for (let turns = 0; turns < round; turns++) await setImmediate()
      await Promise.all([removing, removeAllOld(records, 1_000)])
      const left = await valuesOf(records)
      // If remove() ends last, no record is left.
      assert.ok(left.length <= 1, `${left.length} records are left`)
      const latest = delivered.at(-1)?.latest[0]?.record?.value
      assert.equal(latest, left[0] === undefined ? undefined : JSON.stringify(left[0]))
      await records.remove(thing, key, {})
    }
  })

  test('append() stores each of 600 tied records again after removeOld()', async ({ records }) => {
    const crowd = count(600).map(value => measured(1_000, value))
    await records.append(write([...crowd, measured(2_000, 'newer')]))
    assert.equal(await removeAllOld(records, 2_000), 600)
    // A driver may store so many records of one datetime in a different form.
    const others = count(300).map(value => measured(1_000, `other ${value}`))
    await records.append(write(others))
    await records.append(write([...crowd, measured(2_000, 'newer')]))
    assert.equal((await readAll(records)).length, 901)
  })

  test('append() recognises the record that removeOld() left of 600 tied ones', async ({ records }) => {
    const crowd = count(600).map(value => measured(1_000, value))
    await records.append(write(crowd))
    assert.equal(await removeAllOld(records, 2_000), 599)
    await records.append(write(crowd.slice(-1)))
    assert.deepEqual(await valuesOf(records), [599])
    await records.append(write(crowd))
    await records.append(write(crowd.toReversed()))
    assert.deepEqual(await valuesOf(records), [599, ...count(599)])
  })

  test('read() continues from a cursor whose record removeOld() removed', async ({ records }) => {
    await records.append(write(tenSeconds))
    const ascending = await records.read(thing, key, { order: 'asc', limit: 2 })
    const descending = await records.read(thing, key, { order: 'desc', limit: 7 })
    assert.equal(await removeAllOld(records, 5_000), 5)
    const cursorOf = (page: typeof ascending) => page?.next ?? assert.fail('there is no next page')
    const rest = { order: 'asc', limit: 2, cursor: cursorOf(ascending) } as const
    assert.deepEqual(await valuesOf(records, rest), [5, 6])
    const older = { order: 'desc', limit: 7, cursor: cursorOf(descending) } as const
    assert.deepEqual(await records.read(thing, key, older), { records: [] })
  })

  test('things() lists every thing that holds records, in pages', async ({ records }) => {
    assert.deepEqual(await records.things({ limit: 10 }), [])
    const ids = ['a', 'aa', 'a-', 'b', 'a0', 'A'].toSorted()
    for (const thingId of ids) {
      await records.append(write([received(1), received(2, { key: 'other' })], { thingId }))
    }
    assert.deepEqual(await records.things({ limit: 10 }), ids)
    assert.deepEqual(await records.things({ limit: 2 }), ids.slice(0, 2))
    assert.deepEqual(await records.things({ after: ids[1] ?? '', limit: 2 }), ids.slice(2, 4))
    assert.deepEqual(await records.things({ after: ids[5] ?? '', limit: 2 }), [])
  })

  if (!capabilities.durable) return

  test('size() grows when the store has more records', async store => {
    const before = await store.size()
    const large = 'x'.repeat(10_000)
    for (const round of count(10)) {
      await store.records.append(
        write(count(20).map(value => measured(value, `${round} ${large}`, { key: `k${value}` }))),
      )
    }
    const { bytes, limit } = await store.size()
    assert.ok(bytes >= before.bytes + 1_000_000, `${before.bytes} bytes, then ${bytes}`)
    assert.ok(limit === undefined || limit > 0)
  })
}
