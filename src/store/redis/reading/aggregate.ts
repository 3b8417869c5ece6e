import { Aggregation } from '../../../core/record/aggregation.ts'
import type { AggregateQuery, Aggregates } from '../../contract.ts'
import type { RedisDatabase } from '../connection/database.ts'
import { readPage } from './pages.ts'

const recordsAtOnce = 500

/** Folds the records of a range. @returns undefined if nothing was ever stored under the key @throws ThingwireError store_unavailable */
export async function aggregate(
  database: RedisDatabase,
  thingId: string,
  key: string,
  { buckets, ...range }: AggregateQuery,
  closing: AbortSignal,
): Promise<Aggregates | undefined> {
  const answer = new Aggregation({ ...range, buckets })
  const query = { ...range, limit: recordsAtOnce }
  let cursor: string | undefined
  do {
    closing.throwIfAborted()
    const page = await readPage(database, thingId, key, cursor === undefined ? query : { ...query, cursor })
    if (!page) return cursor === undefined ? undefined : answer.end()
    for (const { datetime, value } of page.records) {
      if (!answer.add(datetime, value)) return answer.end()
    }
    cursor = page.next
  } while (cursor !== undefined)
  return answer.end()
}
