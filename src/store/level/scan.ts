import type { AbstractSnapshot } from 'abstract-level'
import type { Database } from './database.ts'
import type { KeyRange } from './keys.ts'

export interface ScanOptions {
  /** Most entries that are given at once. */
  readonly atOnce: number
  /** Bytes after which fewer are given; at least one is. Default 16 KiB. */
  readonly highWaterMarkBytes?: number
  readonly reverse?: boolean
  readonly snapshot?: AbstractSnapshot | undefined
}

type Entry = [key: Buffer, bytes: Buffer]

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
