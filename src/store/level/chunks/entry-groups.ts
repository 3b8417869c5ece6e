import { type Batch, type Database, putBytes } from '../database/database.ts'
import { type Entry, scan } from '../database/scan.ts'
import type { KeyRange } from '../keys.ts'
import { joined } from './chunk.ts'
import { packedForm, packedValue } from './packed-chunk.ts'
import { countIn, decodeChunk } from './record-chunk.ts'

/** Rules for joining entries into chunks. All values are record counts. */
export interface Grouping {
  /** How many of the newest records of the range are left unpacked. */
  readonly newest: number
  /** Maximum number of records in a chunk. */
  readonly records: number
  /** Minimum number of records in the last chunk of the range. Fewer records are left unpacked, since more may be added later. */
  readonly least: number
}

/** Consecutive entries that become one chunk. */
export type EntryGroup = readonly [Entry, ...Entry[]]

/** Maximum size of a chunk in bytes. A limit is needed since a late record makes the store rewrite the chunk that it splits. */
const mostBytes = 16 * 1024
/** `readGroups` stops reading after this many records or bytes, not counting the newest records, which are left unpacked. */
const readRecords = 2_048
const readBytes = 128 * 1024
/** Once the records that are left unpacked reach this many bytes, all older records are packed. */
const newestBytes = 64 * 1024

/**
 * Reads entries from the start of a range of record keys, and groups entries that should become one chunk.
 *
 * @returns `next`: record key before which every entry is packed once the groups are put; undefined if the range has no entry.
 * `isAtEnd`: whether the range was read to its end
 */
export async function readGroups(database: Database, range: KeyRange, grouping: Grouping) {
  const { entries, isAtEnd } = await readSome(database, range, grouping.newest)
  const kept = entries.slice(0, newestFrom(entries, grouping.newest))
  const groups: EntryGroup[] = []
  let open: Entry[] = []
  let records = 0
  let bytes = 0
  const close = () => {
    const [first, ...others] = open
    if (first && others.length > 0) groups.push([first, ...others])
    open = []
    records = 0
    bytes = 0
  }
  for (const entry of kept) {
    const count = countIn(entry[1])
    const { length } = entry[1]
    if (records + count > grouping.records || bytes + length > mostBytes) close()
    if (isFull(entry, count, grouping)) {
      close()
      continue
    }
    open.push(entry)
    records += count
    bytes += length
    if (records === grouping.records) close()
  }
  const next = open[0] ?? entries[kept.length] ?? kept.at(-1)
  if (isAtEnd && records >= grouping.least) close()
  return { groups, next: next?.[0], isAtEnd }
}

/** Puts each group into the batch as one packed chunk. Yields after each group, which takes about a millisecond. */
export function* putGroups(batch: Batch, groups: readonly EntryGroup[]): Generator<void> {
  for (const [first, ...others] of groups) {
    const chunk = joined([decodeChunk('', first), ...others.map(entry => decodeChunk('', entry))])
    putBytes(batch, first[0], packedValue(chunk))
    for (const [name] of others) batch.del(name)
    yield
  }
}

async function readSome(database: Database, range: KeyRange, newest: number) {
  const entries: Entry[] = []
  let records = 0
  let bytes = 0
  for await (const some of scan(database, range)) {
    entries.push(...some)
    for (const [, value] of some) {
      records += countIn(value)
      bytes += value.length
    }
    if (records >= readRecords + newest || bytes >= readBytes + newestBytes)
      return { entries, isAtEnd: false }
  }
  return { entries, isAtEnd: true }
}

/** Index of the first entry to leave unpacked, so that `newest` records are left, or fewer if they are long. */
function newestFrom(entries: readonly Entry[], newest: number): number {
  let records = 0
  let bytes = 0
  let index = entries.length
  while (index > 0 && records < newest && bytes < newestBytes) {
    index--
    const [, value] = entries[index] as Entry
    records += countIn(value)
    bytes += value.length
  }
  return index
}

/** Whether joining the entry with other entries would save little. */
function isFull([, value]: Entry, count: number, { records }: Grouping): boolean {
  return value.length >= mostBytes / 2 || (value[0] === packedForm && count >= records / 2)
}
