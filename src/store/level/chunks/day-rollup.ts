import { crc32 } from 'node:zlib'
import type { BucketSummary, Buckets } from '../../../core/record/buckets.ts'
import { milliseconds, utcBuckets } from '../../../core/time/utc-buckets.ts'
import type { Batch } from '../database/database.ts'
import { type Readable, scan } from '../database/scan.ts'
import { rollupKeys } from '../keys.ts'
import { ColumnReader, ColumnWriter } from './columns.ts'

/** Milliseconds. In every time zone, a day begins at a quarter hour of UTC, since all offsets are multiples of 15 minutes. */
export const quarterHour = 15 * milliseconds.m
export const dayLength = milliseconds.d

export const quarterHours: Buckets = utcBuckets(quarterHour)

/** Start of the UTC day of a datetime, milliseconds. */
export function dayOf(datetime: number): number {
  return datetime - (datetime % dayLength)
}

/**
 * Rollups of those quarter hours of a day that have records. One entry stores all of them, column by column. A quarter hour whose
 * first or last value is long has no rollup: its records are read for each query.
 */
export interface DayRollup {
  /** Start of the day, milliseconds. */
  readonly day: number
  /** Rollups, ordered by time. */
  readonly quarters: readonly BucketSummary[]
  /** Starts of the quarter hours that have records but no rollup. */
  readonly withoutRollup: ReadonlySet<number>
}

/** Maximum number of characters of a value in a rollup. */
const longestText = 64
const textEnd = '\x01'
const sumLength = 4

/** @param quarters all quarter hours of the day that have records, in order */
export function encodeDay(day: number, quarters: readonly BucketSummary[]): Buffer {
  const isLong = ({ first, last }: BucketSummary) => first.length > longestText || last.length > longestText
  const summed = quarters.filter(quarter => !isLong(quarter))
  const withoutRollup = quarters.filter(isLong)
  const writer = new ColumnWriter()
  for (const some of [summed, withoutRollup]) {
    writer.natural(some.length)
    for (const { start } of some) writer.natural((start - day) / quarterHour)
  }
  for (const { count, numbers } of summed) {
    writer.natural(count)
    writer.natural(numbers)
  }
  for (const member of ['sum', 'compensation', 'min', 'max'] as const) {
    writer.doubles(Float64Array.from(summed, quarter => quarter[member]))
  }
  writer.text(summed.flatMap(({ first, last }) => [first, last]).join(textEnd))
  return writer.end(crc32)
}

/** @returns undefined if the entry is damaged */
export function decodeDay(day: number, bytes: Buffer): DayRollup | undefined {
  const end = bytes.length - sumLength
  if (end < 0 || crc32(bytes.subarray(0, end)) !== bytes.readUInt32LE(end)) return undefined
  const reader = new ColumnReader(bytes, 0, end)
  const readStarts = () =>
    Array.from({ length: reader.natural() }, () => day + reader.natural() * quarterHour)
  const starts = readStarts()
  const withoutRollup = new Set(readStarts())
  const counts = starts.map(() => ({ count: reader.natural(), numbers: reader.natural() }))
  const [sums, compensations, minima, maxima] = Array.from({ length: 4 }, () => reader.doubles(starts.length))
  const texts = reader.text().split(textEnd)
  const quarters = starts.map((start, index) => ({
    start,
    end: start + quarterHour,
    count: counts[index]?.count ?? 0,
    numbers: counts[index]?.numbers ?? 0,
    sum: sums?.[index] ?? 0,
    compensation: compensations?.[index] ?? 0,
    min: minima?.[index] ?? Number.POSITIVE_INFINITY,
    max: maxima?.[index] ?? Number.NEGATIVE_INFINITY,
    first: texts[2 * index] ?? 'null',
    last: texts[2 * index + 1] ?? 'null',
  }))
  return { day, quarters, withoutRollup }
}

/** Deletes, in a batch, the rollups from the day that contains `from` to the day that contains `to` (milliseconds). */
export async function dropRollups(
  database: Readable,
  batch: Batch,
  resource: number,
  from = 0,
  to?: number,
): Promise<void> {
  const days = rollupKeys(resource, dayOf(from), to === undefined ? undefined : to + 1)
  for await (const entries of scan(database, days)) for (const [key] of entries) batch.del(key)
}
