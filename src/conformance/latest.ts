import assert from 'node:assert/strict'
import type { Suite } from './stage.ts'
import { count, measured, otherThing, received, thing, valuesOf, write } from './writes.ts'

const newest = { order: 'desc', limit: 1 } as const

/** Milliseconds. */
const hour = 3_600_000

export function latest({ test }: Suite): void {
  test('read() takes the latest record by measurement, not by arrival', async stage => {
    const { records } = await stage.open()
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

  test('append() with store false is numbered and told, and changes nothing that is read', async stage => {
    const { records } = await stage.open()
    await records.append(write([measured(1_000, 'kept')]))
    const told: unknown[] = []
    records.onCommit(commit =>
      told.push(...commit.records.map(({ value }) => JSON.parse(value)), commit.writeNumber),
    )
    const passing = [measured(2_000, 'passing'), measured(2_000, 1, { key: 'other' })]
    const { writeNumber } = await records.append(write(passing, { store: false }))
    assert.notEqual(writeNumber, 0)
    assert.deepEqual(told, ['passing', 1, writeNumber])
    assert.deepEqual(await valuesOf(records), ['kept'])
    assert.deepEqual(await records.resources(thing), ['temperature'])
    const next = await records.append(write([measured(3_000, 'kept too')]))
    assert.ok(next.writeNumber > writeNumber, `write number ${next.writeNumber} after ${writeNumber}`)
  })

  test('resources() lists the keys that hold records, sorted by their bytes', async stage => {
    const { records } = await stage.open()
    const keys = ['b', '$geo', 'a.b', 'Z', 'a', '_', '-', 'a-b', '10', '2', '$settings.a', '.']
    for (const key of keys) await records.append(write([received(1, { key }), received(2, { key })]))
    const sorted = ['$geo', '$settings.a', '-', '.', '10', '2', 'Z', '_', 'a', 'a-b', 'a.b', 'b']
    assert.deepEqual(await records.resources(thing), sorted)
    assert.deepEqual(await records.resources(otherThing), [])
  })

  test('resources() lists thousands of keys', async stage => {
    const { records } = await stage.open()
    const keys = count(5_000).map(number => `sensor-${String(number).padStart(5, '0')}`)
    await records.append(write(keys.toReversed().map(key => received(key, { key }))))
    assert.deepEqual(await records.resources(thing), keys)
    assert.deepEqual(await valuesOf(records, { key: 'sensor-01234' }), ['sensor-01234'])
  })
}
