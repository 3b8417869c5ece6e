import assert from 'node:assert/strict'
import type { Suite } from './stage.ts'
import {
  appendEach,
  count,
  key,
  measured,
  otherThing,
  pages,
  thing,
  valuesOf,
  type Where,
  write,
} from './writes.ts'

/** Values 0..39 at ten datetimes, four per datetime, so that some pages end between records with the same datetime. */
const present = count(40).map(value => measured(10_000 + Math.floor(value / 4) * 1_000, value))

export function paging({ test }: Suite): void {
  test('read() ends a page early if its values are large, and continues there', async ({ records }) => {
    const large = count(40).map(value => measured(value, 'x'.repeat(60_000) + value))
    for (const record of large) await records.append(write([record]))
    const sizes: number[] = []
    for await (const page of pages(records, { order: 'asc', limit: 1_000 })) {
      sizes.push(page.length)
      // If the cursors of a store make no progress, the test fails instead of hanging.
      if (sizes.length > large.length) break
    }
    const read = sizes.reduce((sum, size) => sum + size, 0)
    assert.equal(read, large.length)
    const largest = Math.max(...sizes)
    assert.equal(largest > 1 && largest < large.length, true, `pages of ${sizes}`)
  })

  for (const order of ['asc', 'desc'] as const) {
    const inOrder = (values: readonly number[]) => (order === 'asc' ? values : values.toReversed())

    test(`read() continues where a page ended, for every limit (${order})`, async ({ records }) => {
      await appendEach(records, present)
      for (const limit of [1, 2, 3, 4, 5, 7, 39, 40, 41]) {
        const read: number[] = []
        for await (const page of pages(records, { order, limit })) {
          read.push(...page.map(({ value }) => Number(value)))
        }
        assert.deepEqual(read, inOrder(count(40)), `limit ${limit}`)
      }
    })

    test(`read() gives nothing outside the range for a cursor of another range (${order})`, async ({
      records,
    }) => {
      await appendEach(records, present)
      const where = { order, limit: 4 } as const
      const first = await records.read(thing, key, where)
      const range = order === 'asc' ? { from: 15_000, to: 17_000 } : { from: 12_000, to: 14_000 }
      const read = await valuesOf(records, { ...where, ...range, cursor: first?.next ?? '' })
      assert.deepEqual(read, order === 'asc' ? [20, 21, 22, 23] : [15, 14, 13, 12])
    })

    test(`read() neither skips nor repeats with appends between pages (${order})`, async ({ records }) => {
      await appendEach(records, present)
      const read: unknown[] = []
      let round = 0
      for await (const page of pages(records, { order, limit: 3 })) {
        read.push(...page.map(({ value }) => JSON.parse(value)))
        if (++round > 10) continue
        const here = page.at(-1)?.datetime ?? 0
        // Datetimes before, at and after the cursor's datetime, and before and after all records.
        const around = [here - 1_000, here - 1, here, here, here + 1, here + 1_000, 1, 1_000_000 + round]
        await records.append(write(around.map((datetime, place) => measured(datetime, `${round} ${place}`))))
      }
      const numbers = read.filter(value => typeof value === 'number')
      assert.deepEqual(numbers, inOrder(count(40)))
      assert.equal(new Set(read).size, read.length, 'a record was given twice')
    })

    test(`read() neither skips nor repeats while others append (${order})`, async ({ records }) => {
      await appendEach(records, present)
      let isReading = true
      const appending = (async () => {
        for (let round = 0; isReading && round < 40; round++) {
          const late = count(5).map(place =>
            measured(9_500 + ((round * 7 + place * 3) % 12) * 1_000, `${round} ${place}`),
          )
          await records.append(write(late))
        }
      })()
      const numbers: number[] = []
      const seen = new Set<string>()
      try {
        for await (const page of pages(records, { order, limit: 4, from: 0, to: 20_000 })) {
          for (const { value } of page) {
            assert.ok(!seen.has(value), `${value} was given twice`)
            seen.add(value)
            if (/^\d+$/.test(value)) numbers.push(Number(value))
          }
        }
      } finally {
        isReading = false
        await appending
      }
      assert.deepEqual(numbers, inOrder(count(40)))
    })

    test(`read() continues after a page whose last record was removed (${order})`, async ({ records }) => {
      await appendEach(records, present)
      const query = { order, limit: 6 }
      const first = await records.read(thing, key, query)
      const last = first?.records.at(-1)?.datetime ?? 0
      await records.remove(thing, key, { from: last, to: last + 1 })
      const rest = await valuesOf(records, { ...query, limit: 100, cursor: first?.next ?? '' })
      assert.deepEqual(rest, inOrder(count(40)).slice(8))
    })
  }

  test('read() refuses a cursor that it never gave out', async ({ records }) => {
    await records.append(write([measured(1_000, 1), measured(1_000, 1, { key: 'emptied' })]))
    await records.remove(thing, 'emptied', {})
    for (const cursor of ['', 'x', '%', 'AAAA', '\u{1f600}', 'a'.repeat(5_000)]) {
      for (const written of [key, 'emptied']) {
        const reading = records.read(thing, written, { order: 'asc', limit: 1, cursor })
        await assert.rejects(reading, { reason: 'invalid_cursor' }, JSON.stringify(cursor))
      }
      assert.equal(await records.read(thing, 'unknown', { order: 'asc', limit: 1, cursor }), undefined)
    }
  })
}

/** Values of records at 1,000, 2,000 (twice), 3,000 and 4,000 ms; `cases` lists ranges, each with its values. */
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
    test(`read() keeps exactly to its bounds (${order})`, async ({ records }) => {
      await records.append(write(stored.map(value => measured(Number.parseInt(value, 10) * 1_000, value))))
      for (const [description, range, values] of cases) {
        const expected = order === 'asc' ? values : values.toReversed()
        assert.deepEqual(await valuesOf(records, { ...range, order }), expected, description)
      }
    })

    test(`read() keeps to its bounds on every page (${order})`, async ({ records }) => {
      await records.append(write([1, 2, 3, 4, 5, 6].map(value => measured(value * 1_000, value))))
      const query = { from: 2_000, to: 6_000, order, limit: 2 }
      const first = await records.read(thing, key, query)
      const second = await records.read(thing, key, { ...query, cursor: first?.next ?? '' })
      const read = [...(first?.records ?? []), ...(second?.records ?? [])].map(({ value }) => Number(value))
      assert.deepEqual(read, order === 'asc' ? [2, 3, 4, 5] : [5, 4, 3, 2])
      assert.equal(second?.next, undefined)
    })
  }

  test('read() distinguishes an empty range from an unknown key', async ({ records }) => {
    await records.append(write([measured(1_000, 1)]))
    const query = { from: 2_000, order: 'asc', limit: 1 } as const
    assert.deepEqual(await records.read(thing, key, query), { records: [] })
    assert.equal(await records.read(thing, 'humidity', query), undefined)
    assert.equal(await records.read(otherThing, key, query), undefined)
  })

  test('read() gives at most limit records, and next only if there are more', async ({ records }) => {
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
