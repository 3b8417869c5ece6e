import { Aggregation } from '../../../core/record/aggregation.ts'
import type { BucketSummary } from '../../../core/record/buckets.ts'
import { foldEntry } from '../chunks/fold-entry.ts'
import { entriesIn } from '../chunks/time-line.ts'
import { isPassing } from '../database/level-errors.ts'
import { type Entry, firstEntries, type Readable } from '../database/scan.ts'
import { datetimeInRecordKey, recordKeys, rollupKey } from '../keys.ts'
import { encodeDay } from './day-rollup.ts'
import { dayLength, dayOf, quarterHours } from './days.ts'

/**
 * Rollups, as entries that are to be put, of the days in a range that have none and are worth one.
 *
 * The day must be over: nothing but a late record or a removal changes it, and those remove its rollup (`dropRollups`).
 * A day with a damaged entry gets none: the damage must not keep the days behind it from theirs.
 *
 * @param from begin of a day, milliseconds
 * @param to milliseconds; days that end behind it are left out
 * @param fewest so many records make a day worth a rollup
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
    const isEmpty = !next || datetimeInRecordKey(next[0]) >= day + dayLength
    // Days without a record between two are leapt over. A chunk in front may reach into them: then it has few records for a day.
    if (!next) return
    if (isEmpty) {
      day = dayOf(datetimeInRecordKey(next[0])) - dayLength
      continue
    }
    const key = rollupKey(resource, day)
    if (await database.level.has(key)) continue
    const quarters = await quartersIfWhole(database, resource, day)
    const records = quarters.reduce((sum, { count }) => sum + count, 0)
    if (records >= fewest) yield [key, encodeDay(day, quarters)]
  }
}

/** The rollup of a day, made of its records. */
export async function rollupOf(database: Readable, resource: number, day: number): Promise<Buffer> {
  return encodeDay(day, await quartersOf(database, resource, day))
}

/** @returns none if an entry of the day is damaged */
async function quartersIfWhole(
  database: Readable,
  resource: number,
  day: number,
): Promise<readonly BucketSummary[]> {
  try {
    return await quartersOf(database, resource, day)
  } catch (error) {
    if (isPassing(error)) throw error
    return []
  }
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
