import { type Batch, type Database, putBytes } from '../database/database.ts'
import { type Entry, scan } from '../database/scan.ts'
import type { KeyRange } from '../keys.ts'
import { joined } from './chunk.ts'
import { packedForm, packedValue } from './packed-chunk.ts'
import { countIn, decodeChunk } from './record-chunk.ts'

/** Which entries are worth one chunk. */
export interface Grouping {
  /** So many of the newest records of the range are left alone. */
  readonly newest: number
  /** Most records of a chunk. */
  readonly records: number
  /** So many records are worth a chunk at the end of the range, where more may come. */
  readonly least: number
}

/** Entries that follow each other and are to be one. */
export type EntryGroup = readonly [Entry, ...Entry[]]

interface EntryGroups {
  readonly groups: readonly EntryGroup[]
  /** In front of this record key everything is as it is to be once the groups are put; undefined: there is no entry. */
  readonly next: Buffer | undefined
  /** Whether the range was read to its end. */
  readonly isAtEnd: boolean
}

/** Of a chunk: what has to be written anew when a late record parts it. */
const mostBytes = 16 * 1024
/** Read in one go, behind what is left alone. */
const readRecords = 2_048
const readBytes = 128 * 1024
/** Of what is left alone. */
const newestBytes = 64 * 1024

/** Reads entries from the start of a range of record keys, and says which of them are to be one. */
export async function readGroups(
  database: Database,
  range: KeyRange,
  grouping: Grouping,
): Promise<EntryGroups> {
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

/** Has a batch put each group as one packed chunk. Yields between two, each a millisecond of work. */
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

/** The index of the first entry that is left alone: it has one of so many newest records, or they are long. */
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

/** Whether little would be gained by joining it with others. */
function isFull([, value]: Entry, count: number, { records }: Grouping): boolean {
  return value.length >= mostBytes / 2 || (value[0] === packedForm && count >= records / 2)
}
