import type { AbstractSnapshot } from 'abstract-level'
import type { Database } from './database.ts'
import { type KeyRange, recordKeys, resourceInRecordKey } from './keys.ts'
import { type Entry, newestName } from './record-run.ts'

export interface ScanOptions {
  /** Most entries that are given at once. */
  readonly atOnce: number
  /** Bytes after which fewer are given; at least one is. Default 16 KiB. */
  readonly highWaterMarkBytes?: number
  readonly reverse?: boolean
  readonly snapshot?: AbstractSnapshot | undefined
}

/** The entries of a range, some at a time, as the database is when the scan begins. */
export async function* scan(
  database: Database,
  { gte, lt }: KeyRange,
  { atOnce, highWaterMarkBytes = 16 * 1024, reverse = false, snapshot }: ScanOptions,
): AsyncGenerator<Entry[], void, undefined> {
  const iterator = database.level.iterator({ gte, lt, reverse, snapshot, highWaterMarkBytes })
  try {
    for (
      let entries = await iterator.nextv(atOnce);
      entries.length > 0;
      entries = await iterator.nextv(atOnce)
    ) {
      yield entries
    }
  } finally {
    await iterator.close()
  }
}

/** The last entry of a range. */
export async function lastEntry(
  database: Database,
  { gte, lt }: KeyRange,
  snapshot?: AbstractSnapshot,
): Promise<Entry | undefined> {
  const [entry] = await database.level.iterator({ gte, lt, reverse: true, limit: 1, snapshot }).all()
  return entry
}

/** The first entries of a range, as many as `scan` gives at once. */
export async function firstEntries(
  database: Database,
  range: KeyRange,
  options: ScanOptions,
): Promise<readonly Entry[]> {
  for await (const entries of scan(database, range, options)) return entries
  return []
}

/** Where the entry begins that a record key is in: a run in front of it may reach it. The key itself if none does. */
export async function entryStart(
  database: Database,
  key: Buffer,
  snapshot?: AbstractSnapshot,
): Promise<Buffer> {
  const { gte } = recordKeys(resourceInRecordKey(key))
  if (Buffer.compare(key, gte) <= 0) return key
  const before = await lastEntry(database, { gte, lt: key }, snapshot)
  return before && Buffer.compare(newestName(before), key) >= 0 ? before[0] : key
}
