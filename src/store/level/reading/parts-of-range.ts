import type { BucketSummary } from '../../../core/record/buckets.ts'
import { latestDatetime } from '../../../core/record/datetime.ts'
import type { AggregateQuery } from '../../contract.ts'
import { type DayRollup, dayLength, dayOf, decodeDay, quarterHour } from '../chunks/day-rollup.ts'
import type { FoldedRange } from '../chunks/fold-entry.ts'
import { type Readable, type ScanOptions, scan } from '../database/scan.ts'
import { rollupKeys, rollupParts } from '../keys.ts'

/** A part of a range. It has a rollup, or its records must be read. */
type PartOfRange = { readonly rollup: BucketSummary } | { readonly toFold: FoldedRange }

/** Yields the parts of a query's range, one day at a time, in the query's order. Omits parts that are known to have no records. */
export async function* partsOfRange(
  database: Readable,
  resource: number,
  query: AggregateQuery,
  snapshot: NonNullable<ScanOptions['snapshot']>,
): AsyncGenerator<readonly PartOfRange[], void, undefined> {
  const { order, buckets } = query
  const range = {
    from: query.from ?? 0,
    to: Math.min(query.to ?? Number.POSITIVE_INFINITY, latestDatetime + 1),
  }
  const isForwards = order === 'asc'
  let { from, to } = range
  const { start, end } = buckets.at(Math.min(from, latestDatetime))
  if (end - start >= quarterHour) {
    const days = rollupKeys(resource, dayOf(from), to)
    for await (const entries of scan(database, days, { snapshot, reverse: !isForwards })) {
      for (const [key, bytes] of entries) {
        const rollup = decodeDay(rollupParts(key)?.day ?? 0, bytes)
        // If a rollup is damaged, the records of its day are read instead.
        if (!rollup) continue
        const { day } = rollup
        const before = isForwards ? { from, to: day } : { from: day + dayLength, to }
        if (before.from < before.to) yield [{ toFold: before }]
        const parts = partsOfDay(rollup, range, query)
        yield isForwards ? parts : parts.reverse()
        if (isForwards) from = day + dayLength
        else to = day
      }
    }
  }
  if (from < to) yield [{ toFold: { from, to } }]
}

/** The parts of one day, in ascending order. */
function partsOfDay(
  { day, quarters, withoutRollup }: DayRollup,
  range: FoldedRange,
  { buckets }: Pick<AggregateQuery, 'buckets'>,
): PartOfRange[] {
  const isUsable = ({ start, end }: BucketSummary) =>
    start >= range.from && end <= range.to && buckets.at(start).end >= end
  const parts: PartOfRange[] = []
  let next = 0
  for (let start = day; start < day + dayLength; start += quarterHour) {
    const quarter = quarters[next]
    const rollup = quarter?.start === start ? quarter : undefined
    if (rollup) next++
    if (rollup && isUsable(rollup)) parts.push({ rollup })
    else if (rollup || withoutRollup.has(start)) pushToFold(parts, start, range)
  }
  return parts
}

function pushToFold(parts: PartOfRange[], start: number, range: FoldedRange): void {
  const toFold = { from: Math.max(start, range.from), to: Math.min(start + quarterHour, range.to) }
  if (toFold.from >= toFold.to) return
  const before = parts.at(-1)
  if (before && 'toFold' in before && before.toFold.to === toFold.from) {
    parts[parts.length - 1] = { toFold: { from: before.toFold.from, to: toFold.to } }
  } else {
    parts.push({ toFold })
  }
}
