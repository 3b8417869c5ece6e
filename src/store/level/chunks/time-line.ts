import type { AbstractSnapshot } from 'abstract-level'
import type { StoredRecord } from '../../../core/record/record.ts'
import { encodeRecord } from '../../record-value.ts'
import type { Database } from '../database/database.ts'
import { type Entry, lastEntry, type Readable, type ScanOptions, scan } from '../database/scan.ts'
import { behind, type KeyRange, recordKeys, resourceInRecordKey } from '../keys.ts'
import { type Chunk, type NamedRecord, named, within } from './chunk.ts'
import { decodeChunk, isChunk, namedRecords, newestIn, newestName } from './record-chunk.ts'

/** Reads records in order, each with its key (`NamedRecord`), so that callers need not know about chunks. */

export type { NamedRecord }

/** Yields the records in a range of record keys, in batches, as they were at the first read. @param options for reading entries */
export async function* recordsIn(
  database: Readable,
  key: string,
  range: KeyRange,
  options: ScanOptions = {},
): AsyncGenerator<Iterable<NamedRecord>, void, undefined> {
  for await (const chunks of chunksIn(database, key, range, options)) yield recordsOf(chunks, options.reverse)
}

/** Like `recordsIn`, but yields chunks that are not empty. `reverse` reverses the order of chunks, but not within a chunk. */
export async function* chunksIn(
  database: Readable,
  key: string,
  range: KeyRange,
  options: ScanOptions = {},
): AsyncGenerator<Iterable<Chunk>, void, undefined> {
  for await (const entries of entriesIn(database, range, options)) yield chunksOf(entries, key, range)
}

/** Yields the entries with records in a range of record keys, in batches. The lowest entry may have no record in the range. */
export async function* entriesIn(
  database: Readable,
  range: KeyRange,
  options: ScanOptions = {},
): AsyncGenerator<Entry[], void, undefined> {
  if (isFirst(range.gte)) yield* scan(database, range, options)
  else if (options.reverse) yield* entriesBackTo(database, range, options)
  else yield* entriesFrom(database, range, options)
}

/** Implements `entriesIn` in ascending order. An additional read finds the first entry. */
async function* entriesFrom(
  database: Readable,
  range: KeyRange,
  options: ScanOptions,
): AsyncGenerator<Entry[], void, undefined> {
  // One snapshot for both reads, so that the second read does not see later writes or packing.
  const own = options.snapshot ? undefined : database.level.snapshot()
  const { snapshot = own } = options
  try {
    const gte = await entryStart(database, range.gte, snapshot)
    yield* scan(database, { gte, lt: range.lt }, { ...options, snapshot })
  } finally {
    await own?.close()
  }
}

/** Implements `entriesIn` in descending order, in one read. Includes the chunk before the range: it may reach into the range. */
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

/** Decodes lazily, since a page may be full before the last entry. */
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

export async function newestRecord(
  database: Database,
  key: string,
  resource: number,
  snapshot?: AbstractSnapshot,
): Promise<StoredRecord | undefined> {
  const entry = await lastEntry(database, recordKeys(resource), snapshot)
  return entry && newestIn(key, entry)
}

/** The last record of a resource before a record key, exclusive. */
export async function recordBefore(
  database: Database,
  key: string,
  before: Buffer,
): Promise<NamedRecord | undefined> {
  const { gte } = recordKeys(resourceInRecordKey(before))
  const entry = await lastEntry(database, { gte, lt: before })
  return entry && namedRecords(key, entry).findLast(({ name }) => Buffer.compare(name, before) < 0)
}

/** The entry that contains a record. @param name name of the record (`NamedRecord`) */
export async function entryOf(database: Database, name: Buffer): Promise<Entry | undefined> {
  const { gte } = recordKeys(resourceInRecordKey(name))
  return await lastEntry(database, { gte, lt: behind(name) })
}

/** Where to begin a read of the records from `key` on: at the previous entry if its records reach the key, otherwise at the key. */
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

/** Whether no entry of the resource can begin before the key. */
function isFirst(key: Buffer): boolean {
  return Buffer.compare(key, recordKeys(resourceInRecordKey(key)).gte) <= 0
}

/** Splits an entry into one entry for each record. */
export function singles(entry: Entry): Entry[] {
  if (!isChunk(entry[1])) return [entry]
  return namedRecords('', entry).map(({ name, record }) => [name, encodeRecord(record)])
}
