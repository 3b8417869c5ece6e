import assert from 'node:assert/strict'
import type { Suite } from './stage.ts'
import { listen } from './views.ts'
import {
  appendEach,
  ascending,
  count,
  key,
  measured,
  measuredAt,
  received,
  valuesOf,
  write,
} from './writes.ts'

/** Datetimes at which a number's text or bytes get longer, where an order that is not numeric shows. */
const datetimes = [
  0,
  1,
  9,
  10,
  99,
  100,
  255,
  256,
  65_535,
  65_536,
  999_999_999_999,
  1_000_000_000_000,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 32,
  2 ** 40,
  measuredAt,
  Date.UTC(9999, 11, 31, 23, 59, 59, 999),
].sort((a, b) => a - b)

export function order({ test }: Suite): void {
  test('append() orders records by datetime, whatever order their writes come in', async stage => {
    const { records } = await stage.open()
    for (const value of [5, 1, 9, 3, 7, 0, 8, 2, 6, 4])
      await records.append(write([measured(value * 1_000, value)]))
    assert.deepEqual(await valuesOf(records), count(10))
    assert.deepEqual(await valuesOf(records, { order: 'desc' }), count(10).reverse())
  })

  test('append() orders the records of one write by datetime, whatever order they stand in', async stage => {
    const { records } = await stage.open()
    await records.append(write([5, 1, 9, 3].map(value => measured(value * 1_000, value))))
    await records.append(write([8, 2, 6, 4, 7].map(value => measured(value * 1_000, value))))
    assert.deepEqual(await valuesOf(records), [1, 2, 3, 4, 5, 6, 7, 8, 9])
    assert.deepEqual(await valuesOf(records, { order: 'desc' }), [9, 8, 7, 6, 5, 4, 3, 2, 1])
  })

  test('append() orders datetimes as numbers, from 1970 to 9999', async stage => {
    const { records } = await stage.open()
    const shuffled = datetimes.map((_, index) => datetimes[(index * 7) % datetimes.length] ?? 0)
    await appendEach(
      records,
      shuffled.map(datetime => measured(datetime, datetime)),
    )
    assert.deepEqual(await valuesOf(records), datetimes)
  })

  test('append() orders records of one datetime by write number, then by place', async stage => {
    const { records } = await stage.open()
    await records.append(write([measured(1_000, 'first, 0'), measured(1_000, 'first, 1')]))
    await records.append(write([measured(1_000, 'second, 0')]))
    await records.append(
      write([measured(1_000, 'another key', { key: 'other' }), measured(1_000, 'third, 1')]),
    )
    const expected = ['first, 0', 'first, 1', 'second, 0', 'third, 1']
    assert.deepEqual(await valuesOf(records), expected)
    assert.deepEqual(await valuesOf(records, { order: 'desc' }), expected.toReversed())
  })

  test('append() keeps the places of a write as numbers, from 0 to 9,999', async stage => {
    const { records } = await stage.open()
    await records.append(write(count(10_000).map(value => received(value))))
    assert.deepEqual(await valuesOf(records), count(10_000))
  })

  test('append() keeps write numbers as numbers: 600 writes of one datetime are in their order', async stage => {
    const { records } = await stage.open()
    await appendEach(
      records,
      count(600).map(value => received(value)),
    )
    assert.deepEqual(await valuesOf(records), count(600))
    assert.deepEqual(await valuesOf(records, { order: 'desc' }), count(600).reverse())
  })

  test('append() commits what one caller appends in the order of the calls', async stage => {
    const { records } = await stage.open()
    const receipts = await Promise.all(count(100).map(value => records.append(write([received(value)]))))
    const numbers = receipts.map(({ writeNumber }) => writeNumber)
    assert.deepEqual(numbers, ascending(new Set(numbers)))
    assert.ok(numbers.every(number => Number.isInteger(number) && number > 0))
  })

  test('append() gives records with and without a datetime of their own one time line', async stage => {
    const { records } = await stage.open()
    const told = listen(records)
    await records.append(write([received('b')]))
    const receivedAt = told[0]?.receivedAt ?? 0
    await records.append(write([measured(receivedAt - 1, 'a'), measured(receivedAt + 1, 'd')]))
    await records.append(write([measured(receivedAt, 'c')]))
    assert.deepEqual(await valuesOf(records, { key }), ['a', 'b', 'c', 'd'])
  })
}
