import assert from 'node:assert/strict'
import type { Suite } from './stage.ts'
import { count, measured, otherThing, readAll, received, thing, valuesOf, write } from './writes.ts'

export function durability({ test, capabilities }: Suite): void {
  if (!capabilities.durable) return

  test('open() finds the records and resources that were stored', async stage => {
    const before = await stage.open()
    const geo = { lat: 41.41, long: 2.22 }
    await before.records.append(
      write([measured(3_000, 'c'), measured(1_000, 'a', { geo }), measured(3_000, 'd')]),
    )
    await before.records.append(write([measured(2_000, 'b')]))
    await before.records.append(write([received(1, { key: 'other' })], { thingId: otherThing }))
    const stored = await readAll(before.records)
    const { records } = await stage.reopen()
    assert.deepEqual(await readAll(records), stored)
    assert.deepEqual(await valuesOf(records), ['a', 'b', 'c', 'd'])
    assert.deepEqual(await records.resources(thing), ['temperature'])
    assert.deepEqual(await records.resources(otherThing), ['other'])
  })

  test('open() goes on with the write numbers, so that ties stay in order', async stage => {
    let newest = 0
    for (const round of count(4)) {
      const { records, close } = await stage.open()
      for (const value of [`${round} a`, `${round} b`]) {
        const { writeNumber } = await records.append(write([received(value)]))
        assert.ok(writeNumber > newest, `write number ${writeNumber} after ${newest}`)
        newest = writeNumber
      }
      await close()
    }
    const { records } = await stage.open()
    const expected = count(4).flatMap(round => [`${round} a`, `${round} b`])
    assert.deepEqual(await valuesOf(records), expected)
  })

  test('open() leaves a cursor of before good', async stage => {
    const before = await stage.open()
    await before.records.append(write(count(10).map(value => measured(1_000, value))))
    const first = await before.records.read(thing, 'temperature', { order: 'desc', limit: 4 })
    const { records } = await stage.reopen()
    const rest = await valuesOf(records, { order: 'desc', cursor: first?.next ?? '' })
    assert.deepEqual(rest, [5, 4, 3, 2, 1, 0])
  })

  test('close() while appending loses nothing that resolved, and leaves nothing half', async stage => {
    const size = 20
    const before = await stage.open()
    const acknowledged: number[] = []
    const appends = count(300).map(async round => {
      const batch = count(size).map(place => measured(round, `${round} ${place}`))
      await before.records.append(write(batch))
      acknowledged.push(round)
    })
    const settled = Promise.allSettled([...appends, before.close()])
    const late = before.records.append(write([measured(0, 'late')]))
    await assert.rejects(late, { reason: 'store_unavailable' })
    await settled
    const { records } = await stage.open()
    const counts = new Map<number, number>()
    for (const { datetime } of await readAll(records)) counts.set(datetime, (counts.get(datetime) ?? 0) + 1)
    for (const round of acknowledged) assert.equal(counts.get(round), size, `write ${round} is not whole`)
    for (const [round, found] of counts) assert.equal(found, size, `write ${round} is half`)
  })

  test('open() refuses what a newer version has written', async stage => {
    const before = await stage.open()
    await before.records.append(write([received(1)]))
    await before.close()
    assert.ok(stage.place.writeNewerFormat, 'the factory of a durable store must provide writeNewerFormat()')
    await stage.place.writeNewerFormat()
    await assert.rejects(stage.open())
  })

  if (capabilities.shared) return

  test('open() refuses a place that another store holds, which goes on unharmed', async stage => {
    const holder = await stage.open()
    await holder.records.append(write([received(1)]))
    await assert.rejects(stage.open())
    await holder.records.append(write([received(2)]))
    assert.deepEqual(await valuesOf(holder.records), [1, 2])
    const { records } = await stage.reopen()
    assert.deepEqual(await valuesOf(records), [1, 2])
  })
}
