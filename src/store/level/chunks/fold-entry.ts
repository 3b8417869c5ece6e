import type { Aggregation } from '../../../core/record/aggregation.ts'
import type { Entry } from '../database/scan.ts'
import { type PackedColumns, packedColumns, packedForm } from './packed-chunk.ts'
import { namedRecords } from './record-chunk.ts'

/** Datetimes in milliseconds: `from` inclusive, `to` exclusive. */
export interface FoldedRange {
  readonly from: number
  readonly to: number
}

/**
 * Adds the records of an entry to an answer, except records outside the range.
 *
 * @param isReversed whether to add the newest record first
 * @returns false if the answer is complete
 * @throws Error if the entry is damaged
 */
export function foldEntry(
  answer: Aggregation,
  entry: Entry,
  range: FoldedRange,
  isReversed: boolean,
): boolean {
  const columns = entry[1][0] === packedForm ? packedColumns(entry) : undefined
  if (columns?.values instanceof Float64Array) return foldNumbers(answer, columns, columns.values, range)
  const records = namedRecords('', entry).map(({ record }) => record)
  for (const { datetime, value } of isReversed ? records.reverse() : records) {
    if (datetime < range.from || datetime >= range.to) continue
    if (!answer.add(datetime, value)) return false
  }
  return true
}

function foldNumbers(
  answer: Aggregation,
  { datetimes }: PackedColumns,
  numbers: Float64Array,
  { from, to }: FoldedRange,
): boolean {
  let first = 0
  let end = datetimes.length
  while (first < end && (datetimes[first] as number) < from) first++
  while (end > first && (datetimes[end - 1] as number) >= to) end--
  return answer.addNumbers(datetimes, numbers, first, end)
}
