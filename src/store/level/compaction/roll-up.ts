import { Aggregation } from '../../../core/record/aggregation.ts'
import type { BucketSummary } from '../../../core/record/buckets.ts'
import { dayLength, dayOf, encodeDay, quarterHours } from '../chunks/day-rollup.ts'
import { foldEntry } from '../chunks/fold-entry.ts'
import { entriesIn } from '../chunks/time-line.ts'
import { isPassing } from '../database/level-errors.ts'
import { type Entry, firstEntries, type Readable } from '../database/scan.ts'
import { datetimeInRecordKey, recordKeys, rollupKey } from '../keys.ts'

/**
 * The rollups that are missing for the days of a range, as entries to put.
 *
 * Only a finished day gets a rollup. Late records and removals, which can still change the day, delete the rollup. A day with a
 * damaged entry gets no rollup, but later days do.
 *
 * @param from start of a day, milliseconds
 * @param to milliseconds; days that end after `to` are left out
 * @param fewest a day with fewer records gets no rollup
 */
export async function* rollupsOf(
  database: Readable,
  resource: number,
  from: number,
  to: number,
  fewest: number,
): AsyncGenerator<Entry, void, undefined> {
  for (let day = from; day + dayLength <= to; day += dayLength) {
    const rest = recordKeys(resource, day, to)
    const [next] = await firstEntries(database, rest, { limit: 1 })
    if (!next) return
    const nextDay = dayOf(datetimeInRecordKey(next[0]))
    // Skips days without an entry. Such a day may have records in a chunk that begins earlier, but only a few.
    if (nextDay > day) {
      day = nextDay - dayLength
      continue
    }
    const key = rollupKey(resource, day)
    if (await database.level.has(key)) continue
    const quarters = await quartersOf(database, resource, day).catch((error: unknown) => {
      if (isPassing(error)) throw error
      return []
    })
    const records = quarters.reduce((sum, { count }) => sum + count, 0)
    if (records >= fewest) yield [key, encodeDay(day, quarters)]
  }
}

export async function rollupOf(database: Readable, resource: number, day: number): Promise<Buffer> {
  return encodeDay(day, await quartersOf(database, resource, day))
}

async function quartersOf(
  database: Readable,
  resource: number,
  day: number,
): Promise<readonly BucketSummary[]> {
  const range = { from: day, to: day + dayLength }
  const answer = new Aggregation({ order: 'asc', limit: Number.POSITIVE_INFINITY, buckets: quarterHours })
  for await (const entries of entriesIn(database, recordKeys(resource, range.from, range.to))) {
    for (const entry of entries) if (!foldEntry(answer, entry, range, false)) return []
  }
  return answer.end().buckets
}
