import type { AbstractSnapshot } from 'abstract-level'
import type { StoredRecord } from '../../../core/record/record.ts'
import { encodeRecord } from '../../record-value.ts'
import type { Database } from '../database/database.ts'
import { type Entry, lastEntry, type Readable, type ScanOptions, scan } from '../database/scan.ts'
import { behind, type KeyRange, recordKeys, resourceInRecordKey } from '../keys.ts'
import { type Chunk, type NamedRecord, named, within } from './chunk.ts'
import { decodeChunk, isChunk, namedRecords, newestIn, newestName } from './record-chunk.ts'

/**
 * The records of a resource in their order, each under the key that it would have alone. Who reads them here need not know that
 * several may be one entry of the database, a chunk.
 */

export type { NamedRecord }

/**
 * The records of a range of record keys, some at a time, as they are when the first are asked for.
 *
 * @param key of the resource
 * @param options of the entries that are read; the entry at the start of the range may have no record in it
 */
export async function* recordsIn(
  database: Readable,
  key: string,
  range: KeyRange,
  options: ScanOptions = {},
): AsyncGenerator<Iterable<NamedRecord>, void, undefined> {
  for await (const chunks of chunksIn(database, key, range, options)) yield recordsOf(chunks, options.reverse)
}

/** As `recordsIn`, as chunks: in the order that is asked for, and the records of each in their own. No chunk is empty. */
export async function* chunksIn(
  database: Readable,
  key: string,
  range: KeyRange,
  options: ScanOptions = {},
): AsyncGenerator<Iterable<Chunk>, void, undefined> {
  for await (const entries of entriesIn(database, range, options)) yield chunksOf(entries, key, range)
}

/** The entries in which the records of a range of record keys are, some at a time; that at its start may have none of them. */
export async function* entriesIn(
  database: Readable,
  range: KeyRange,
  options: ScanOptions = {},
): AsyncGenerator<Entry[], void, undefined> {
  if (isFirst(range.gte)) yield* scan(database, range, options)
  else if (options.reverse) yield* entriesBackTo(database, range, options)
  else yield* entriesFrom(database, range, options)
}

/** A read for itself finds where to begin. */
async function* entriesFrom(
  database: Readable,
  range: KeyRange,
  options: ScanOptions,
): AsyncGenerator<Entry[], void, undefined> {
  // One for both reads: what is written or packed between them is seen by neither.
  const own = options.snapshot ? undefined : database.level.snapshot()
  const { snapshot = own } = options
  try {
    const gte = await entryStart(database, range.gte, snapshot)
    yield* scan(database, { gte, lt: range.lt }, { ...options, snapshot })
  } finally {
    await own?.close()
  }
}

/** One read is enough backwards: it ends with the entry in front of the range, if that is a chunk, which may reach it. */
async function* entriesBackTo(
  database: Readable,
  { gte: start, lt }: KeyRange,
  options: ScanOptions,
): AsyncGenerator<Entry[], void, undefined> {
  const { gte } = recordKeys(resourceInRecordKey(start))
  for await (const entries of scan(database, { gte, lt }, options)) {
    const inFront = entries.findIndex(([name]) => Buffer.compare(name, start) < 0)
    if (inFront === -1) {
      yield entries
      continue
    }
    const [, bytes] = entries[inFront] as Entry
    const count = isChunk(bytes) ? inFront + 1 : inFront
    if (count > 0) yield entries.slice(0, count)
    return
  }
}

/** Taken apart as they are asked for: a page may be full in the middle of them. */
function* chunksOf(entries: readonly Entry[], key: string, range: KeyRange): Generator<Chunk> {
  const choose = within(range)
  for (const entry of entries) {
    const chunk = decodeChunk(key, entry, choose)
    if (chunk.records.length > 0) yield chunk
  }
}

function* recordsOf(chunks: Iterable<Chunk>, reverse = false): Generator<NamedRecord> {
  for (const chunk of chunks) {
    const found = named(chunk)
    yield* reverse ? found.reverse() : found
  }
}

/** The newest record of a resource. */
export async function newestRecord(
  database: Database,
  key: string,
  resource: number,
  snapshot?: AbstractSnapshot,
): Promise<StoredRecord | undefined> {
  const entry = await lastEntry(database, recordKeys(resource), snapshot)
  return entry && newestIn(key, entry)
}

/** The newest record of a resource in front of a record key of it. */
export async function recordBefore(
  database: Database,
  key: string,
  before: Buffer,
): Promise<NamedRecord | undefined> {
  const { gte } = recordKeys(resourceInRecordKey(before))
  const entry = await lastEntry(database, { gte, lt: before })
  return entry && namedRecords(key, entry).findLast(({ name }) => Buffer.compare(name, before) < 0)
}

/** The entry that a record is in. */
export async function entryOf(database: Database, name: Buffer): Promise<Entry | undefined> {
  const { gte } = recordKeys(resourceInRecordKey(name))
  return await lastEntry(database, { gte, lt: behind(name) })
}

/** Where the entry begins that a record key is in: a chunk in front of it may reach it. The key itself if none does. */
export async function entryStart(
  database: Readable,
  key: Buffer,
  snapshot?: AbstractSnapshot,
): Promise<Buffer> {
  if (isFirst(key)) return key
  const { gte } = recordKeys(resourceInRecordKey(key))
  const before = await lastEntry(database, { gte, lt: key }, snapshot)
  return before && Buffer.compare(newestName(before), key) >= 0 ? before[0] : key
}

/** Whether no entry of the resource begins in front of it. */
function isFirst(key: Buffer): boolean {
  return Buffer.compare(key, recordKeys(resourceInRecordKey(key)).gte) <= 0
}

/** The records of an entry, each as the entry that it would be alone. */
export function singles(entry: Entry): Entry[] {
  if (!isChunk(entry[1])) return [entry]
  return namedRecords('', entry).map(({ name, record }) => [name, encodeRecord(record)])
}
