import assert from 'node:assert/strict'
import type { Suite } from './stage.ts'
import { key, measured, otherThing, thing, valuesOf, type Where, write } from './writes.ts'

/** Bounds over records at 1,000, 2,000 (twice), 3,000 and 4,000 ms, and what must lie in them. */
const stored = ['1', '2a', '2b', '3', '4']
const cases: readonly (readonly [description: string, range: Where, values: readonly string[]])[] = [
  ['no bounds take all', {}, stored],
  ['from is inclusive', { from: 2_000 }, ['2a', '2b', '3', '4']],
  ['from one millisecond later leaves out', { from: 2_001 }, ['3', '4']],
  ['from one millisecond earlier takes in', { from: 1_999 }, ['2a', '2b', '3', '4']],
  ['to is exclusive', { to: 3_000 }, ['1', '2a', '2b']],
  ['to one millisecond later takes in', { to: 3_001 }, ['1', '2a', '2b', '3']],
  ['to one millisecond earlier changes nothing', { to: 2_999 }, ['1', '2a', '2b']],
  ['both bounds hold', { from: 2_000, to: 3_000 }, ['2a', '2b']],
  ['a range of one millisecond', { from: 2_000, to: 2_001 }, ['2a', '2b']],
  ['an empty range', { from: 2_000, to: 2_000 }, []],
  ['a range that is turned round', { from: 3_000, to: 2_000 }, []],
  ['a range between two records', { from: 2_001, to: 3_000 }, []],
  ['a range before all', { to: 1_000 }, []],
  ['a range after all', { from: 4_001 }, []],
  ['from 0', { from: 0, to: 1_001 }, ['1']],
]

export function bounds({ test }: Suite): void {
  for (const order of ['asc', 'desc'] as const) {
    test(`read() keeps exactly to its bounds (${order})`, async stage => {
      const { records } = await stage.open()
      await records.append(write(stored.map(value => measured(Number.parseInt(value, 10) * 1_000, value))))
      for (const [description, range, values] of cases) {
        const expected = order === 'asc' ? values : values.toReversed()
        assert.deepEqual(await valuesOf(records, { ...range, order }), expected, description)
      }
    })

    test(`read() keeps to its bounds on every page (${order})`, async stage => {
      const { records } = await stage.open()
      await records.append(write([1, 2, 3, 4, 5, 6].map(value => measured(value * 1_000, value))))
      const query = { from: 2_000, to: 6_000, order, limit: 2 }
      const first = await records.read(thing, key, query)
      const second = await records.read(thing, key, { ...query, cursor: first?.next ?? '' })
      const read = [...(first?.records ?? []), ...(second?.records ?? [])].map(({ value }) => Number(value))
      assert.deepEqual(read, order === 'asc' ? [2, 3, 4, 5] : [5, 4, 3, 2])
      assert.equal(second?.next, undefined)
    })
  }

  test('read() tells a range that is empty from a key that holds nothing', async stage => {
    const { records } = await stage.open()
    await records.append(write([measured(1_000, 1)]))
    const query = { from: 2_000, order: 'asc', limit: 1 } as const
    assert.deepEqual(await records.read(thing, key, query), { records: [] })
    assert.equal(await records.read(thing, 'humidity', query), undefined)
    assert.equal(await records.read(otherThing, key, query), undefined)
  })

  test('read() gives at most limit records, and next only if there are more', async stage => {
    const { records } = await stage.open()
    await records.append(write([1, 2, 3].map(value => measured(value * 1_000, value))))
    for (const order of ['asc', 'desc'] as const) {
      for (const limit of [1, 2, 3, 4, 1_000]) {
        const page = await records.read(thing, key, { order, limit })
        assert.equal(page?.records.length, Math.min(limit, 3))
        assert.equal(page?.next !== undefined, limit < 3, `limit ${limit}`)
      }
    }
    const inRange = await records.read(thing, key, { to: 3_000, order: 'asc', limit: 2 })
    assert.equal(inRange?.next, undefined)
  })
}
