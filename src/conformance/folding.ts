import assert from 'node:assert/strict'
import { averageOf, sumOf } from '../core/record/bucket-fold.ts'
import type { StoredRecord } from '../core/record/record.ts'
import type { AggregateQuery, BucketSummary, Buckets, RecordStore } from '../store/contract.ts'
import { key, thing, type Where } from './writes.ts'

/** Aggregates as they are defined: records that are read, folded with exact arithmetic. */

interface Summarised extends Where {
  readonly buckets: Buckets
}

/** What a bucket holds, read off its records. */
interface Expected {
  readonly start: number
  readonly end: number
  readonly values: string[]
}

/** Every bucket of a range by as many calls as it takes, each for at most `limit` of them. */
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
    assert.ok(buckets.length > 0, 'an answer that goes on has a bucket')
    rest = { ...rest, [order === 'asc' ? 'from' : 'to']: answer.next }
  }
}

/** Asserts that the buckets of a range are what its records, read now, add up to. */
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

/** Asserts that a summary is that of these values, JSON texts in the order of time. */
export function assertSummary(summary: BucketSummary, values: readonly string[], message?: string): void {
  const numbers = values.map(value => JSON.parse(value)).filter(value => typeof value === 'number')
  assert.deepEqual(
    {
      count: summary.count,
      numbers: summary.numbers,
      // assert tells -0 from 0.
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
  for (const { datetime, value } of await readEvery(records, { ...where, order: 'asc' })) {
    const { start, end } = buckets.at(datetime)
    if (found.at(-1)?.start !== start) found.push({ start, end, values: [] })
    found.at(-1)?.values.push(value)
  }
  return order === 'asc' ? found : found.reverse()
}

/** Every record of a range, also where one page cannot hold all. */
async function readEvery(records: Pick<RecordStore, 'read'>, where: Where): Promise<StoredRecord[]> {
  const found: StoredRecord[] = []
  const { thingId = thing, key: wanted = key } = where
  const range = { order: 'asc', ...where, limit: 100_000 } as const
  let page = await records.read(thingId, wanted, range)
  while (page) {
    found.push(...page.records)
    if (page.next === undefined) break
    page = await records.read(thingId, wanted, { ...range, cursor: page.next })
  }
  return found
}

/** In units of the least double, 2^-1074: whole numbers, whatever the doubles are. */
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

/** 15 significant digits of the number, and as many again of what it was added up from. */
const [ofNumber, ofMagnitude] = [10n ** 15n, 10n ** 28n]

/** Asserts that a number is the quotient, or infinite where a double cannot say it. */
function assertNear(number: number, sum: bigint, divisor: bigint, magnitude: bigint, message: string): void {
  const isBeyond = abs(sum) > exact(Number.MAX_VALUE) * divisor
  if (isBeyond && number === (sum > 0n ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY)) return
  assert.ok(Number.isFinite(number), `${message} is ${number}`)
  const difference = abs(exact(number) * divisor - sum)
  // The least double: what lies between two of them cannot be said better.
  const allowed = abs(sum) / ofNumber + magnitude / ofMagnitude + divisor
  assert.ok(difference <= allowed, `${message} is ${number}`)
}

function abs(number: bigint): bigint {
  return number < 0n ? -number : number
}
