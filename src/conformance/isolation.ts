import assert from 'node:assert/strict'
import type { Suite } from './stage.ts'
import { latestNow, put, state, stateful } from './views.ts'
import {
  count,
  measured,
  otherThing,
  readAll,
  readDuring,
  received,
  refusal,
  thing,
  valuesOf,
  write,
} from './writes.ts'

/** Sorted keys that a store could confuse because of a separator, a common prefix, or upper and lower case. */
const keys = [
  ...'$geo $settings $settings.a - -- . .. 0 00 1 10 A AB _ __proto__'.split(' '),
  ...'a a- a-b a. a.b a.b.c a0 aB a_ a_b aa ab b constructor toString'.split(' '),
  'x'.repeat(127),
  'x'.repeat(128),
  `${'x'.repeat(127)}y`,
]
const things = [thing, `${thing.slice(0, -1)}a`, otherThing, thing.slice(1), `${thing}a`]

export function isolation({ test }: Suite): void {
  test('append() keeps keys apart, however similar their names are', async ({ records }) => {
    await Promise.all(keys.map(key => records.append(write([measured(1_000, key, { key })]))))
    await records.append(write(keys.map(key => measured(2_000, key, { key }))))
    for (const key of keys) assert.deepEqual(await valuesOf(records, { key }), [key, key])
    for (const key of ['', 'a.b.', 'c', '$', 'x'.repeat(126)]) {
      assert.equal(await records.read(thing, key, { order: 'asc', limit: 1 }), undefined)
    }
  })

  test('append() keeps things apart, however similar their ids are', async ({ records }) => {
    for (const thingId of things) await records.append(write([received(thingId)], { thingId }))
    for (const thingId of things) assert.deepEqual(await valuesOf(records, { thingId }), [thingId])
  })

  test('append() does not take the end of a thing id for the start of a key', async ({ records }) => {
    await records.append(write([received(1, { key: 'xa' })], { thingId: otherThing }))
    await records.append(write([received(2, { key: 'a' })], { thingId: `${otherThing}x` }))
    await records.append(write([received(3, { key: 'a' })], { thingId: otherThing }))
    assert.deepEqual(await valuesOf(records, { thingId: otherThing, key: 'xa' }), [1])
    assert.deepEqual(await valuesOf(records, { thingId: `${otherThing}x`, key: 'a' }), [2])
    assert.deepEqual(await valuesOf(records, { thingId: otherThing, key: 'a' }), [3])
  })

  test('read() gives no record of the keys before and after', async ({ records }) => {
    const latest = Date.UTC(9999, 11, 31)
    for (const key of ['a', 'b', 'c']) {
      await records.append(write([measured(0, `${key} 0`, { key }), measured(latest, `${key} 1`, { key })]))
    }
    for (const order of ['asc', 'desc'] as const) {
      assert.deepEqual((await valuesOf(records, { key: 'b', order })).toSorted(), ['b 0', 'b 1'])
    }
  })

  test('remove() leaves similar keys and other things alone', async ({ records }) => {
    const all = keys.map(key => received(key, { key }))
    for (const thingId of things) await records.append(write(all, { thingId }))
    for (const key of ['a', 'a.b', '$settings', 'x'.repeat(127)])
      assert.equal(await records.remove(thing, key, {}), 1)
    const left = keys.filter(key => !['a', 'a.b', '$settings', 'x'.repeat(127)].includes(key))
    assert.deepEqual(await records.resources(thing), left)
    for (const key of left) assert.deepEqual(await valuesOf(records, { key }), [key])
    for (const thingId of things.slice(1)) assert.deepEqual(await records.resources(thingId), keys)
  })

  test('removeThing() removes all of a thing, and nothing of others', async ({ records, refused }) => {
    const three = count(3).map(value => measured(value, value))
    for (const thingId of things) {
      await records.append(write(three, { thingId, id: 'a' }))
      await records.append(write([received(1, { key: 'other' })], { thingId }))
      await records.append(put([state(thingId), state(thingId, { key: '$settings' })], { thingId }))
      await refused.add(thingId, refusal(1))
    }
    await records.removeThing(thing)
    await records.removeThing(thing)
    assert.deepEqual(await records.resources(thing), [])
    assert.equal(await records.read(thing, 'temperature', { order: 'asc', limit: 1 }), undefined)
    assert.equal(await records.answerOf(thing, 'a', 0), undefined)
    assert.deepEqual(await refused.list(thing, 10), [])
    assert.equal(await records.state(thing, stateful), undefined)
    assert.deepEqual(await latestNow(records, { thingId: thing }), [])
    for (const thingId of things.slice(1)) {
      assert.deepEqual(await valuesOf(records, { thingId }), [0, 1, 2])
      assert.deepEqual(await records.resources(thingId), ['other', 'temperature'])
      assert.deepEqual(await records.answerOf(thingId, 'a', 0), {})
      assert.deepEqual(await refused.list(thingId, 10), [refusal(1)])
      assert.deepEqual(await records.state(thingId, stateful), state(thingId).record)
      assert.equal((await latestNow(records, { thingId })).length, 4)
    }
  })

  test('removeThing() lets the thing send the same records and write ids again', async ({ records }) => {
    await records.append(write([measured(1_000, 'a')], { id: 'a' }))
    await records.removeThing(thing)
    assert.notEqual((await records.append(write([measured(1_000, 'a')], { id: 'a' }))).writeNumber, 0)
    assert.deepEqual(await valuesOf(records), ['a'])
    assert.deepEqual(await records.resources(thing), ['temperature'])
  })
}

export function atomicity({ test }: Suite): void {
  test('append() keeps every record of a write, in all its resources', async ({ records }) => {
    const keys = ['a', 'b', 'c']
    await records.append(write(count(3_000).map(value => received(value, { key: keys[value % 3] ?? '' }))))
    for (const [index, key] of keys.entries()) {
      const expected = count(3_000).filter(value => value % 3 === index)
      assert.deepEqual(await valuesOf(records, { key }), expected)
    }
  })

  test('append() shows readers a write as a whole or not at all', async ({ records }) => {
    const size = 200
    const appendAll = async () => {
      for (const round of count(20)) {
        await records.append(write(count(size).map(value => measured(value, `${round} ${value}`))))
      }
    }
    const seen = new Set<number>()
    await readDuring(appendAll(), async () => seen.add((await readAll(records)).length))
    for (const length of seen) assert.equal(length % size, 0, `a reader saw ${length} records`)
    assert.equal((await readAll(records)).length, 20 * size)
  })

  test('append() resolves only when its records can be read', async ({ records }) => {
    for (const value of count(20)) {
      await records.append(write([received(value)]))
      assert.deepEqual(await valuesOf(records, { order: 'desc', limit: 1 }), [value])
    }
  })
}
