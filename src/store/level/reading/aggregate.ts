import type { AbstractSnapshot } from 'abstract-level'
import { readSlices } from '../../../core/async/slices.ts'
import { Aggregation } from '../../../core/record/aggregation.ts'
import type { AggregateQuery, Aggregates } from '../../contract.ts'
import { type FoldedRange, foldEntry } from '../chunks/fold-entry.ts'
import { entriesIn } from '../chunks/time-line.ts'
import type { Database } from '../database/database.ts'
import { emptiedKey, recordKeys, resourceKey } from '../keys.ts'
import { partsOfRange } from './parts-of-range.ts'

/** Implements `DriverRecords.aggregate`. */
export async function aggregate(
  database: Database,
  thingId: string,
  key: string,
  query: AggregateQuery,
  closing: AbortSignal,
): Promise<Aggregates | undefined> {
  // One snapshot for all reads, so that no read sees a later write.
  const snapshot = database.level.snapshot()
  try {
    const number = (await database.level.get(resourceKey(thingId, key), { snapshot }))?.readUInt32BE(0)
    if (number !== undefined) return await fold(database, snapshot, number, query, closing)
    const isEmptied = await database.level.has(emptiedKey(thingId, key), { snapshot })
    return isEmptied ? { buckets: [] } : undefined
  } finally {
    await snapshot.close()
  }
}

async function fold(
  database: Database,
  snapshot: AbstractSnapshot,
  resource: number,
  query: AggregateQuery,
  closing: AbortSignal,
): Promise<Aggregates> {
  const answer = new Aggregation(query)
  const reverse = query.order === 'desc'
  for await (const parts of partsOfRange(database, resource, query, snapshot)) {
    const pause = readSlices.pause()
    if (pause) await pause
    for (const part of parts) {
      closing.throwIfAborted()
      const takesMore =
        'rollup' in part ? answer.merge(part.rollup.start, part.rollup) : await foldRecords(part.toFold)
      if (!takesMore) return answer.end()
    }
  }
  return answer.end()

  /** @returns false if the answer is complete */
  async function foldRecords(range: FoldedRange): Promise<boolean> {
    const keys = recordKeys(resource, range.from, range.to)
    for await (const entries of entriesIn(database, keys, { reverse, snapshot })) {
      for (const entry of entries) {
        // May pause before every entry, not only between batches, since an entry can be a chunk of hundreds of records.
        const pause = readSlices.pause()
        if (pause) await pause
        closing.throwIfAborted()
        if (!foldEntry(answer, entry, range, reverse)) return false
      }
    }
    return true
  }
}
