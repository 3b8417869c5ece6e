import assert from 'node:assert/strict'
import { averageOf, sumOf } from '../core/record/bucket-fold.ts'
import type { AggregateQuery, BucketSummary, Buckets, RecordStore } from '../store/contract.ts'
import { key, pages, thing, type Where } from './writes.ts'

interface Summarised extends Where {
  readonly buckets: Buckets
}

/** The expected bucket, computed from its records. */
interface Expected {
  readonly start: number
  readonly end: number
  readonly values: string[]
}

/** Every bucket of a range, read with as many calls as needed. @param limit maximum number of buckets per call */
export async function aggregateAll(
  records: Pick<RecordStore, 'aggregate'>,
  { thingId = thing, key: wanted = key, order = 'asc', limit = 10_000, cursor: _, ...range }: Summarised,
): Promise<BucketSummary[]> {
  const found: BucketSummary[] = []
  let rest: Omit<AggregateQuery, 'limit' | 'order'> = range
  for (;;) {
    const answer = await records.aggregate(thingId, wanted, { ...rest, order, limit })
    const buckets = answer?.buckets ?? []
    assert.ok(buckets.length <= limit, `${buckets.length} buckets, of at most ${limit}`)
    found.push(...buckets)
    if (answer?.next === undefined) return found
    assert.ok(buckets.length > 0, 'an answer with next has no bucket')
    rest = { ...rest, [order === 'asc' ? 'from' : 'to']: answer.next }
  }
}

/** Asserts that the aggregates of a range agree with the records that `read` returns. Uses exact arithmetic. */
export async function assertFolded(
  records: Pick<RecordStore, 'aggregate' | 'read'>,
  query: Summarised,
  message: string,
): Promise<void> {
  const [found, expected] = [await aggregateAll(records, query), await foldAll(records, query)]
  const bounds = (buckets: readonly { start: number; end: number }[]) =>
    buckets.map(({ start, end }) => [start, end])
  assert.deepEqual(bounds(found), bounds(expected), message)
  for (const [index, summary] of found.entries()) {
    assertSummary(summary, expected[index]?.values ?? [], `${message}, bucket ${summary.start}`)
  }
}

/** @param values JSON texts of the records of the bucket, in time order */
export function assertSummary(summary: BucketSummary, values: readonly string[], message?: string): void {
  const numbers = values.map(value => JSON.parse(value)).filter(value => typeof value === 'number')
  assert.deepEqual(
    {
      count: summary.count,
      numbers: summary.numbers,
      // A summary must contain 0 instead of -0. deepEqual distinguishes the two.
      min: summary.min,
      max: summary.max,
      first: summary.first,
      last: summary.last,
    },
    {
      count: values.length,
      numbers: numbers.length,
      min: Math.min(...numbers) + 0,
      max: Math.max(...numbers) + 0,
      first: values[0],
      last: values.at(-1),
    },
    message,
  )
  if (numbers.length === 0) return
  const sum = exactSum(numbers)
  const magnitude = exactSum(numbers.map(Math.abs))
  assertNear(sumOf(summary), sum, 1n, magnitude, `${message}: sum`)
  assertNear(averageOf(summary), sum, BigInt(numbers.length), magnitude, `${message}: average`)
}

async function foldAll(records: Pick<RecordStore, 'read'>, query: Summarised): Promise<Expected[]> {
  const { buckets, order = 'asc', ...where } = query
  const found: Expected[] = []
  for await (const page of pages(records, { ...where, order: 'asc', limit: 100_000 })) {
    for (const { datetime, value } of page) {
      const { start, end } = buckets.at(datetime)
      if (found.at(-1)?.start !== start) found.push({ start, end, values: [] })
      found.at(-1)?.values.push(value)
    }
  }
  return order === 'asc' ? found : found.reverse()
}

/** The sum in units of 2^-1074, the smallest positive double: every double is a whole number of these units. */
function exactSum(numbers: readonly number[]): bigint {
  return numbers.reduce((sum, number) => sum + exact(number), 0n)
}

const bits = new DataView(new ArrayBuffer(8))

function exact(number: number): bigint {
  bits.setFloat64(0, number)
  const exponent = (bits.getUint16(0) >> 4) & 0x7ff
  const fraction = bits.getBigUint64(0) & 0xfffffffffffffn
  const magnitude = exponent === 0 ? fraction : (fraction | 0x10000000000000n) << BigInt(exponent - 1)
  return number < 0 ? -magnitude : magnitude
}

/** The allowed error is 10^-15 of the result plus 10^-28 of the sum of the magnitudes. */
const [ofNumber, ofMagnitude] = [10n ** 15n, 10n ** 28n]

/** Asserts that a number is near `sum / divisor`. The number may be infinite if the quotient is beyond the range of a double. */
function assertNear(number: number, sum: bigint, divisor: bigint, magnitude: bigint, message: string): void {
  const isBeyond = abs(sum) > exact(Number.MAX_VALUE) * divisor
  if (isBeyond && number === (sum > 0n ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY)) return
  assert.ok(Number.isFinite(number), `${message} is ${number}`)
  const difference = abs(exact(number) * divisor - sum)
  // Adding `divisor` allows an error of 2^-1074 in the quotient, which is the distance between doubles near 0.
  const allowed = abs(sum) / ofNumber + magnitude / ofMagnitude + divisor
  assert.ok(difference <= allowed, `${message} is ${number}`)
}

function abs(number: bigint): bigint {
  return number < 0n ? -number : number
}
