import type { AbstractSnapshot } from 'abstract-level'
import { Aggregation } from '../../../core/record/aggregation.ts'
import type { AggregateQuery, Aggregates } from '../../contract.ts'
import type { Database } from '../database/database.ts'
import { emptiedKey, type KeyRange, recordKeys, resourceKey } from '../keys.ts'
import { recordsIn } from '../runs/time-line.ts'

/**
 * Folds the records of a range as they are when it is called.
 *
 * @param closing why, once the store closes: then it ends at once
 * @returns undefined if nothing was ever stored under the key
 */
export async function aggregate(
  database: Database,
  thingId: string,
  key: string,
  query: AggregateQuery,
  closing: AbortSignal,
): Promise<Aggregates | undefined> {
  // One for all reads: a write between them is seen by none.
  const snapshot = database.level.snapshot()
  try {
    const number = (await database.level.get(resourceKey(thingId, key), { snapshot }))?.readUInt32BE(0)
    if (number !== undefined) {
      const range = recordKeys(number, query.from, query.to)
      return await fold(database, snapshot, key, range, query, closing)
    }
    const isEmptied = await database.level.has(emptiedKey(thingId, key), { snapshot })
    return isEmptied ? { buckets: [] } : undefined
  } finally {
    await snapshot.close()
  }
}

async function fold(
  database: Database,
  snapshot: AbstractSnapshot,
  key: string,
  range: KeyRange,
  query: AggregateQuery,
  closing: AbortSignal,
): Promise<Aggregates> {
  const answer = new Aggregation(query)
  if (Buffer.compare(range.gte, range.lt) >= 0) return answer.end()
  for await (const found of recordsIn(database, key, range, { reverse: query.order === 'desc', snapshot })) {
    closing.throwIfAborted()
    for (const { record } of found) {
      if (!answer.add(record.datetime, record.value)) return answer.end()
    }
  }
  return answer.end()
}
