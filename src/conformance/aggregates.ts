import assert from 'node:assert/strict'
import { averageOf, sumOf } from '../core/record/bucket-fold.ts'
import { utcBuckets } from '../core/time/utc-buckets.ts'
import type { BucketSummary, RecordStore } from '../store/contract.ts'
import { aggregateAll, assertFolded, assertSummary } from './folding.ts'
import { act, History, Random } from './histories.ts'
import type { Suite } from './stage.ts'
import {
  appendEach,
  count,
  key,
  measured,
  otherThing,
  readDuring,
  removeAllOld,
  thing,
  write,
} from './writes.ts'

const seconds = utcBuckets(1_000)
const minutes = utcBuckets(60_000)
const always = utcBuckets(1e15)

/** Buckets with lengths of 1, 3, 1 and 5 seconds, repeated. */
const uneven = {
  at: (datetime: number) => {
    const base = Math.floor(datetime / 10_000) * 10_000
    const [start = 0, end = 0] =
      [
        [0, 1_000],
        [1_000, 4_000],
        [4_000, 5_000],
        [5_000, 10_000],
      ].find(([, end = 0]) => datetime - base < end) ?? []
    return { start: base + start, end: base + end }
  },
}

/** Aggregates all records of the key into one bucket. */
async function whole(records: RecordStore): Promise<BucketSummary> {
  const answer = await records.aggregate(thing, key, { order: 'desc', limit: 1, buckets: always })
  assert.equal(answer?.buckets.length, 1)
  assert.equal(answer.next, undefined)
  return answer.buckets[0] as BucketSummary
}

/** Appends records with these JSON texts as values, at datetimes a second apart. @returns one bucket with all records of the key */
async function ofValues(records: RecordStore, values: readonly string[]): Promise<BucketSummary> {
  await records.append(write(values.map((value, index) => ({ ...measured(index * 1_000, 0), value }))))
  return await whole(records)
}

export function aggregates({ test, capabilities }: Suite): void {
  for (const order of ['asc', 'desc'] as const) {
    const inOrder = <T>(items: readonly T[]) => (order === 'asc' ? items : items.toReversed())

    test(`aggregate() summarises the buckets that have records (${order})`, async ({ records }) => {
      const some = [4, 2.5, 'text', null, -1].map((value, at) => measured(500 * at, value))
      await appendEach(records, some)
      await records.append(write([measured(9_000, 7), measured(9_000, 6), measured(9_000, [5])]))
      const { buckets, next } =
        (await records.aggregate(thing, key, { order, limit: 10, buckets: seconds })) ?? assert.fail()
      assert.equal(next, undefined)
      assert.deepEqual(
        buckets.map(({ start, end }) => [start, end]),
        inOrder([
          [0, 1_000],
          [1_000, 2_000],
          [2_000, 3_000],
          [9_000, 10_000],
        ]),
      )
      const values = inOrder([['4', '2.5'], ['"text"', 'null'], ['-1'], ['7', '6', '[5]']])
      for (const [index, bucket] of buckets.entries()) assertSummary(bucket, values[index] ?? [])
    })

    test(`aggregate() ends at its limit and continues from there (${order})`, async ({ records }) => {
      const twelve = count(12).map(value => measured(value * 700, value))
      await appendEach(records, twelve)
      for (const buckets of [seconds, uneven]) {
        for (const limit of [1, 2, 3, 8, 9, 10]) {
          await assertFolded(records, { order, limit, buckets }, `limit ${limit}`)
          await assertFolded(records, { order, limit, buckets, from: 1_500, to: 6_500 }, `a range, ${limit}`)
        }
      }
      const nine = { order, limit: 9, buckets: seconds }
      const answer = await records.aggregate(thing, key, { ...nine, limit: 8 })
      assert.equal(answer?.next, undefined, 'there is no more')
      const first = await records.aggregate(thing, key, { ...nine, limit: 2 })
      assert.equal(first?.next, order === 'asc' ? 2_000 : 6_000)
    })

    test(`aggregate() keeps exactly to its bounds (${order})`, async ({ records }) => {
      await records.append(write([1, 2, 2, 3, 4].map((second, value) => measured(second * 1_000, value))))
      for (const from of [undefined, 0, 1_999, 2_000, 2_001, 4_000, 4_001]) {
        for (const to of [undefined, 0, 1_000, 2_000, 2_001, 4_000, 4_001, 1_000_000]) {
          const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
          for (const buckets of [seconds, minutes, uneven]) {
            await assertFolded(records, { order, buckets, ...range }, `from ${from} to ${to}`)
          }
        }
      }
    })

    test(`aggregate() ends early when first and last are large (${order})`, async ({ records }) => {
      const large = count(24).map(value => measured(value * 1_000, 'x'.repeat(60_000) + value))
      for (const record of large) await records.append(write([record]))
      const answer = await records.aggregate(thing, key, { order, limit: 100, buckets: seconds })
      const given = answer?.buckets.length ?? 0
      assert.ok(given > 1 && given < large.length, `${given} buckets`)
      assert.ok(answer?.next !== undefined)
      await assertFolded(records, { order, limit: 100, buckets: seconds }, 'in parts')
      await assertFolded(records, { order, limit: 100, buckets: minutes }, 'as one')
    })

    test(`aggregate() works for dense, sparse and equal datetimes (${order})`, async ({ records }) => {
      const dense = count(3_000).map(at => measured(1_000_000 + at * 100, at % 7))
      const sparse = count(700).map(at => measured(10_000_000 + at * 1_000_000, at / 4))
      const crowd = count(2_500).map(at => measured(5_000_000, at))
      const all = [...dense, ...sparse, ...crowd]
      for (let at = 0; at < all.length; at += 500) await records.append(write(all.slice(at, at + 500)))
      for (const buckets of [seconds, minutes, uneven, always]) {
        for (const limit of [50, 10_000]) await assertFolded(records, { order, limit, buckets }, `${limit}`)
      }
      await assertFolded(records, { order, buckets: minutes, from: 1_070_001, to: 5_000_001 }, 'a range')
    })

    test(`aggregate() counts each earlier write, and never part of one (${order})`, async ({ records }) => {
      // More records than a store reads in one step. Gaps between these records are filled by the later writes.
      await records.append(write(count(4_000).map(at => measured(at * 1_000, 'before'))))
      const [ofWrite, writes] = [40, 60]
      let stored = 0
      const appending = (async () => {
        for (const round of count(writes)) {
          const spread = count(ofWrite).map(place => measured(place * 100_000 + 1 + round, place))
          await records.append(write(spread))
          stored++
        }
      })()
      await readDuring(appending, async () => {
        const before = stored
        const buckets = await aggregateAll(records, { order, buckets: utcBuckets(1_000_000) })
        const seen = buckets.reduce((sum, { numbers }) => sum + numbers, 0) / ofWrite
        assert.ok(Number.isInteger(seen), `${seen} writes`)
        assert.ok(seen >= before && seen <= writes, `${seen} writes, of ${before} from before`)
      })
    })

    test(`aggregate() from inside a write counts its rest or nothing (${order})`, async ({ records }) => {
      const [ofWrite, from] = [200, 64]
      let stored = 0
      const appending = (async () => {
        for (const round of count(60)) {
          await records.append(write(count(ofWrite).map(at => measured(round * 1_000 + at, at))))
          stored++
        }
      })()
      await readDuring(appending, async () => {
        const start = stored * 1_000
        const range = { from: start + from, to: start + 1_000 }
        const [bucket] = await aggregateAll(records, { order, buckets: seconds, ...range })
        assert.equal(bucket?.count ?? ofWrite - from, ofWrite - from)
      })
    })
  }

  test('aggregate() counts late records in their buckets, and no removed records', async ({ records }) => {
    await records.append(write(count(300).map(at => measured(10_000 + at * 100, at))))
    const late = count(50).map(at => measured(9_990 + at * 611, -at))
    await appendEach(records, late)
    // The first of these records is stored already, and must not be stored again.
    await records.append(write([measured(10_000, 0), measured(10_000, 1)]))
    const assertNow = async (message: string) => {
      for (const order of ['asc', 'desc'] as const) {
        for (const buckets of [seconds, always]) await assertFolded(records, { order, buckets }, message)
      }
    }
    await assertNow('late records')
    await records.remove(thing, key, { from: 12_345, to: 15_432 })
    await assertNow('a range removed')
    await removeAllOld(records, 11_111)
    await assertNow('old ones removed')
    await records.append(write([measured(10_500, 'again'), measured(13_000, 'again')]))
    await assertNow('more that is late')
  })

  test('aggregate() distinguishes emptied from unknown, and keeps things apart', async ({ records }) => {
    await records.append(write([measured(1_000, 1), measured(1_000, 2, { key: 'emptied' })]))
    await records.append(write([measured(1_000, 3)], { thingId: otherThing }))
    await records.remove(thing, 'emptied', {})
    const query = { order: 'asc', limit: 1, buckets: seconds } as const
    assert.deepEqual(await records.aggregate(thing, 'emptied', query), { buckets: [] })
    assert.deepEqual(await records.aggregate(thing, key, { ...query, from: 2_000 }), { buckets: [] })
    assert.equal(await records.aggregate(thing, 'unknown', query), undefined)
    assert.equal(await records.aggregate(otherThing, 'emptied', query), undefined)
    assertSummary(await whole(records), ['1'])
  })

  test('aggregate() gives sums to 15 significant digits, even of 10,000 numbers', async ({ records }) => {
    const tenths = await ofValues(
      records,
      count(10_000).map(() => '0.1'),
    )
    assert.equal(sumOf(tenths).toPrecision(15), '1000.00000000000')
    assert.equal(averageOf(tenths).toPrecision(15), '0.100000000000000')
  })

  const sums: readonly (readonly [values: readonly string[], sum: number, average: number])[] = [
    [['10000000000000000', '1', '-10000000000000000'], 1, 1 / 3],
    [['1e+308', '1e+308', '-1e+308'], 1e308, 1e308 / 3],
    [['-1e+308', '-1e+308', '1e+308', '1e+308'], 0, 0],
    [['1e+308', '1e+308'], Number.POSITIVE_INFINITY, 1e308],
    [['-1.7976931348623157e+308', '-1'], -1.7976931348623157e308, -8.988465674311579e307],
    [['5e-324', '5e-324'], 1e-323, 5e-324],
    [['5e-324'], 5e-324, 5e-324],
    [['123456789012345680000', '1e+21', '-0.5'], 1123456789012345700000, 374485596337448550000],
  ]
  for (const [values, sum, average] of sums) {
    test(`aggregate() of ${values.join(', ')} has sum ${sum} and average ${average}`, async ({ records }) => {
      const summary = await ofValues(records, values)
      assert.equal(sumOf(summary), sum)
      assert.equal(averageOf(summary), average)
      assertSummary(summary, values)
    })
  }

  test('aggregate() gives 0 for -0, but first and last unchanged', async ({ records }) => {
    const summary = await ofValues(records, ['-0', '-0'])
    assert.deepEqual([summary.min, summary.max, sumOf(summary), averageOf(summary)], [0, 0, 0, 0])
    assert.deepEqual([summary.first, summary.last], ['-0', '-0'])
  })

  test('aggregate() counts only JSON numbers as numbers', async ({ records }) => {
    const values = ['"1"', '[1]', '{"1":1}', 'true', 'null', '""']
    const summary = await ofValues(records, values)
    assertSummary(summary, values)
    assert.deepEqual([summary.min, summary.max], [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
    assert.equal(sumOf(summary), 0)
  })

  test('aggregate() reads values of records with and without a position', async ({ records }) => {
    const positions = [undefined, { lat: 1.5, long: -2.5 }, { lat: 1 / 3, long: 2 / 3 }]
    const values = ['21.5', '{"a":1}', '[1,2]', '"b"']
    const sent = values.flatMap((value, at) =>
      positions.map((geo, place) => ({ ...measured(at * 10 + place, 0, geo && { geo }), value })),
    )
    await records.append(write(sent))
    const found = await aggregateAll(records, { buckets: utcBuckets(1) })
    for (const [index, summary] of found.entries()) assertSummary(summary, [sent[index]?.value ?? ''])
  })

  test('aggregate() gives the full answer or rejects with store_unavailable if close() is called meanwhile', async store => {
    await store.records.append(write(count(5_000).map(at => measured(at, at))))
    const called = whole(store.records).then(
      ({ count }) => count,
      ({ reason }) => reason,
    )
    await store.close()
    assert.ok([5_000, 'store_unavailable'].includes(await called))
  })

  if (capabilities.shared) return

  test('aggregate() leaves out records that are appended after the call', async ({ records }) => {
    await records.append(write(count(1_000).map(at => measured(at, at))))
    const called = whole(records)
    await records.append(write(count(1_000).map(at => measured(at, 'new'))))
    assert.equal((await called).count, 1_000)
    assert.equal((await whole(records)).count, 2_000)
  })
}

const seed = 20_261_121
const histories = 200
/** Number of histories that run at the same time, so that a store commits several writes together. */
const atOnce = 20

export function aggregateHistories({ test }: Suite): void {
  test('aggregate() agrees with read() after any history of writes and removals', async ({ records }) => {
    for (let first = 0; first < histories; first += atOnce) {
      await Promise.all(count(atOnce).map(each => run(records, seed + first + each)))
    }
  })
}

async function run(records: RecordStore, seed: number): Promise<void> {
  const history = new History(seed)
  const random = new Random(seed)
  for (const action of history.actions()) {
    await act(records, history.thingId, action)
    if (random.below(3) === 0) await history.assertNow(records, random)
  }
  await history.assertNow(records, random)
  await history.assertNow(records, random)
}
