import assert from 'node:assert/strict'
import type { Suite } from './stage.ts'
import { appendEach, count, key, measured, otherThing, tenSeconds, thing, valuesOf, write } from './writes.ts'

export function removal({ test, capabilities }: Suite): void {
  test('remove() takes the records of a range, from inclusive, to exclusive, and says how many', async stage => {
    const { records } = await stage.open()
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

  test('remove() of everything leaves a key under which nothing is stored', async stage => {
    const { records } = await stage.open()
    await records.append(write([...tenSeconds, measured(1_000, 'kept', { key: 'other' })]))
    assert.equal(await records.remove(thing, key, {}), 10)
    assert.deepEqual(await records.resources(thing), ['other'])
    assert.deepEqual(await records.read(thing, key, { order: 'desc', limit: 1 }), { records: [] })
    assert.equal(await records.remove(thing, key, {}), 0)
    await records.append(write([measured(500, 'new')]))
    assert.deepEqual(await records.resources(thing), ['other', key])
    assert.deepEqual(await valuesOf(records), ['new'])
  })

  test('remove() of every record by ranges leaves a key under which nothing is stored', async stage => {
    const { records } = await stage.open()
    await records.append(write(tenSeconds))
    assert.equal(await records.remove(thing, key, { from: 5_000 }), 5)
    assert.equal(await records.remove(thing, key, { to: 5_000 }), 5)
    assert.deepEqual(await records.resources(thing), [])
    assert.deepEqual(await records.read(thing, key, { order: 'desc', limit: 1 }), { records: [] })
  })

  test('remove() finds nothing under a key or of a thing that does not exist', async stage => {
    const { records } = await stage.open()
    assert.equal(await records.remove(thing, key, {}), 0)
    await records.append(write(tenSeconds))
    assert.equal(await records.remove(thing, 'other', {}), 0)
    assert.equal(await records.remove(otherThing, key, {}), 0)
  })

  test('remove() takes what was stored before the call and leaves what is appended while it runs', async stage => {
    const { records } = await stage.open()
    const old = count(2_000).map(value => measured(value, value))
    await records.append(write(old))
    const removing = records.remove(thing, key, {})
    const appending = count(50).map(value => records.append(write([measured(value * 40, `new ${value}`)])))
    const [removed] = await Promise.all([removing, ...appending])
    assert.equal(removed, old.length)
    assert.deepEqual(
      await valuesOf(records),
      count(50).map(value => `new ${value}`),
    )
    assert.deepEqual(await records.resources(thing), [key])
  })

  test('remove() leaves no append behind that comes while it empties the resource', async stage => {
    const { records } = await stage.open()
    for (const round of count(30)) {
      await records.append(write([measured(round, `old ${round}`)]))
      const removing = records.remove(thing, key, {})
      await Promise.all([removing, records.append(write([measured(round, `new ${round}`)]))])
      assert.deepEqual(await valuesOf(records), [`new ${round}`])
      assert.deepEqual(await records.resources(thing), [key])
      await records.remove(thing, key, {})
    }
  })

  test('remove() counts no record twice when it is called twice together', async stage => {
    const { records } = await stage.open()
    await records.append(write(tenSeconds))
    const removed = await Promise.all([records.remove(thing, key, {}), records.remove(thing, key, {})])
    assert.equal(removed[0] + removed[1], 10)
  })

  test('remove() of the newest record makes the one before it the latest', async stage => {
    const { records } = await stage.open()
    await records.append(write(tenSeconds))
    await records.remove(thing, key, { from: 9_000 })
    assert.deepEqual(await valuesOf(records, { order: 'desc', limit: 1 }), [8])
    await records.append(write([measured(8_500, 'late')]))
    assert.deepEqual(await valuesOf(records, { order: 'desc', limit: 2 }), ['late', 8])
  })

  if (!capabilities.durable) return

  test('remove() holds when the store is reopened', async stage => {
    const before = await stage.open()
    await before.records.append(write([...tenSeconds, measured(1, 1, { key: 'emptied' })]))
    await before.records.remove(thing, key, { from: 2_000 })
    await before.records.remove(thing, 'emptied', {})
    const { records } = await stage.reopen()
    assert.deepEqual(await valuesOf(records), [0, 1])
    assert.deepEqual(await records.resources(thing), [key])
  })
}
