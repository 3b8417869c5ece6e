import assert from 'node:assert/strict'
import type { Commit } from '../store/contract.ts'
import type { Suite } from './stage.ts'
import { count, key, measured, readAll, received, thing, valuesOf, write } from './writes.ts'

/** Contract §4, resend (a) and (b). */
export function resend({ test, capabilities }: Suite): void {
  test('append() stores a record with a datetime once, however often it is sent', async stage => {
    const { records } = await stage.open()
    const batch = write([measured(2_000, 'b'), measured(1_000, 'a'), measured(3_000, 'c')])
    await records.append(batch)
    await records.append(batch)
    await Promise.all([records.append(batch), records.append(batch)])
    assert.deepEqual(await valuesOf(records), ['a', 'b', 'c'])
  })

  test('append() stores a record once that stands twice in a write', async stage => {
    const { records } = await stage.open()
    await records.append(write([measured(1_000, 'a'), measured(1_000, 'b'), measured(1_000, 'a')]))
    assert.deepEqual(await valuesOf(records), ['a', 'b'])
  })

  test('append() leaves a resent record in its first place', async stage => {
    const { records } = await stage.open()
    await records.append(write([measured(1_000, 'first')]))
    await records.append(write([measured(1_000, 'second')]))
    await records.append(write([measured(1_000, 'first')]))
    assert.deepEqual(await valuesOf(records), ['first', 'second'])
    assert.deepEqual(await valuesOf(records, { order: 'desc', limit: 1 }), ['second'])
  })

  test('append() takes a resend out of what listeners are told, and nothing else', async stage => {
    const { records } = await stage.open()
    const told: unknown[] = []
    records.onCommit((commit: Commit) => told.push(...commit.records.map(({ value }) => JSON.parse(value))))
    await records.append(write([measured(1_000, 'a')]))
    await records.append(write([measured(1_000, 'a'), measured(1_000, 'b'), measured(1_000, 'b')]))
    await records.append(write([measured(1_000, 'b')]))
    assert.deepEqual(told, ['a', 'b'])
  })

  test('append() keeps records of one datetime that differ in value', async stage => {
    const { records } = await stage.open()
    const values = [
      1,
      '1',
      true,
      'true',
      [1],
      ['1'],
      { a: 1 },
      { a: '1' },
      { a: 1, b: null },
      [],
      {},
      '',
      [[]],
      1.5,
    ]
    for (const value of values) await records.append(write([measured(1_000, value)]))
    await records.append(write(values.map(value => measured(1_000, value))))
    assert.deepEqual(await valuesOf(records), values)
  })

  test('append() compares objects without regard to the order of their members, at every depth', async stage => {
    const { records } = await stage.open()
    await records.append(write([measured(1_000, { a: 1, b: { c: [{ d: 2, e: 3 }], f: 4 } })]))
    await records.append(write([measured(1_000, { b: { f: 4, c: [{ e: 3, d: 2 }] }, a: 1 })]))
    await records.append(write([measured(1_000, [1, 2])]))
    await records.append(write([measured(1_000, [2, 1])]))
    const stored = (await readAll(records)).map(({ value }) => value)
    assert.deepEqual(stored, ['{"a":1,"b":{"c":[{"d":2,"e":3}],"f":4}}', '[1,2]', '[2,1]'])
  })

  test('append() keeps records of one datetime that differ in geo', async stage => {
    const { records } = await stage.open()
    const positions = [
      { lat: 1, long: 2 },
      { lat: 2, long: 1 },
      { lat: 1, long: 2.000001 },
    ].map(geo => ({ geo }))
    const batch = [{}, ...positions].map(geo => measured(1_000, 'a', geo))
    await records.append(write(batch))
    await records.append(write(batch.toReversed()))
    assert.deepEqual(
      (await readAll(records)).map(({ geo }) => geo),
      [undefined, ...positions.map(({ geo }) => geo)],
    )
  })

  test('append() knows a resend only in its own resource and at its own datetime', async stage => {
    const { records } = await stage.open()
    const elsewhere = [measured(1_000, 'a', { key: 'other' }), measured(1_001, 'a'), measured(999, 'a')]
    await records.append(write([measured(1_000, 'a'), ...elsewhere]))
    await records.append(write([measured(1_000, 'a')], { thingId: 'other' }))
    assert.equal((await readAll(records)).length, 3)
    assert.equal((await readAll(records, { key: 'other' })).length, 1)
    assert.equal((await readAll(records, { thingId: 'other' })).length, 1)
  })

  test('append() stores a record without a datetime each time it is sent', async stage => {
    const { records } = await stage.open()
    await records.append(write([received('a'), received('a')]))
    await records.append(write([received('a')]))
    assert.deepEqual(await valuesOf(records), ['a', 'a', 'a'])
  })

  test('append() takes a record with a datetime for a resend of one stored with that receipt time', async stage => {
    const { records } = await stage.open()
    await records.append(write([received('a')]))
    const [first] = await readAll(records)
    await records.append(write([measured(first?.datetime ?? 0, 'a')]))
    assert.deepEqual(await valuesOf(records), ['a'])
    await records.append(write([received('a')]))
    assert.deepEqual(await valuesOf(records), ['a', 'a'])
  })

  test('append() knows each of 600 different records of one datetime again', async stage => {
    const { records } = await stage.open()
    const crowd = count(600).map(value => measured(1_000, value))
    await records.append(write([measured(2_000, 'newer')]))
    await records.append(write(crowd.slice(0, 400)))
    await records.append(write(crowd))
    await records.append(write(crowd.toReversed()))
    await Promise.all(crowd.slice(200).map(record => records.append(write([record]))))
    assert.deepEqual(await valuesOf(records), [...count(600), 'newer'])
  })

  test('append() stores of thousands of records those that are new, in front of what is behind them', async stage => {
    const { records } = await stage.open()
    const told: number[] = []
    records.onCommit(commit => told.push(commit.records.length))
    const all = count(6_000).map(place => measured(1_000 + place, place))
    const half = all.filter((_, place) => place % 2 === 0)
    const behind = measured(1_001, 'behind')
    await Promise.all([half, all, [behind]].map(each => records.append(write(each))))
    assert.deepEqual(told, [3_000, 3_000, 1])
    const [first, second, ...others] = count(6_000)
    assert.deepEqual(await valuesOf(records), [first, second, 'behind', ...others])
  })

  test('append() stores a record again once it was removed, also of a large crowd', async stage => {
    const { records } = await stage.open()
    const crowd = count(600).map(value => measured(1_000, value))
    await records.append(write([...crowd, measured(2_000, 'newer')]))
    assert.equal(await records.remove(thing, key, { to: 2_000 }), 600)
    await records.append(write([...crowd, measured(2_000, 'newer')]))
    assert.deepEqual(await valuesOf(records), [...count(600), 'newer'])
    assert.equal(await records.remove(thing, key, {}), 601)
    await records.append(write([measured(2_000, 'newer')]))
    assert.deepEqual(await valuesOf(records), ['newer'])
  })

  test('append() is quiet about nothing that was only told, not stored, before', async stage => {
    const { records } = await stage.open()
    await records.append(write([measured(1_000, 'a')], { store: false }))
    const told: unknown[] = []
    records.onCommit(commit => told.push(...commit.records.map(({ value }) => value)))
    await records.append(write([measured(1_000, 'a')]))
    assert.deepEqual(told, ['"a"'])
    assert.deepEqual(await valuesOf(records), ['a'])
  })

  if (!capabilities.durable) return

  test('append() knows a resend of what was stored before the store was reopened', async stage => {
    const batch = [measured(1_000, 'a'), measured(1_000, 'b'), measured(5_000, 'c'), received('d')]
    const crowd = count(600).map(value => measured(3_000, value))
    const before = await stage.open()
    await before.records.append(write([...batch, ...crowd]))
    const last = (await readAll(before.records)).at(-1)
    const { records } = await stage.reopen()
    await records.append(
      write([...crowd.toReversed(), ...batch.slice(0, 3), measured(last?.datetime ?? 0, 'd')]),
    )
    assert.deepEqual(await valuesOf(records), ['a', 'b', ...count(600), 'c', 'd'])
  })
}
