import { chunkKey, type NamedRecord, partsOf } from '../chunks/chunk.ts'
import { dropRollups } from '../chunks/day-rollup.ts'
import { chunkValue, decodeChunk, isChunk, newestName } from '../chunks/record-chunk.ts'
import { entryStart } from '../chunks/time-line.ts'
import { lowerWatermark } from '../chunks/watermark.ts'
import type { Batch, Database } from '../database/database.ts'
import { type Entry, firstEntries } from '../database/scan.ts'
import {
  behind,
  datetimeInRecordKey,
  isWithin,
  type KeyRange,
  positionInRecordKey,
  resourceInRecordKey,
} from '../keys.ts'
import type { Unpacked } from './unpacked.ts'

/** Maximum size of a piece, in entries and bytes: small enough that commits hardly have to wait. */
const readAtOnce = { limit: 2_000, bytes: 64 * 1024 }

interface RemovalParts {
  readonly database: Database
  /** Runs a task while no group is being committed: a chunk must not change after the task reads it and before it writes. */
  readonly alone: <T>(task: () => Promise<T>) => Promise<T>
  readonly unpacked: Unpacked
}

/** Durably removes, in pieces, the records of a range with write numbers up to `lastWrite`, inclusive. @returns their number */
export async function removeRecords(
  parts: RemovalParts,
  { gte, lt }: KeyRange,
  lastWrite: number,
): Promise<number> {
  let removed = 0
  for (let next: Buffer | undefined = gte; next; ) {
    const from: Buffer = next
    const piece = await parts.alone(() => removePiece(parts, { gte: from, lt }, lastWrite))
    removed += piece.count
    next = piece.next
  }
  return removed
}

async function removePiece({ database, unpacked }: RemovalParts, range: KeyRange, lastWrite: number) {
  const { gte, lt } = range
  if (Buffer.compare(gte, lt) >= 0) return { count: 0 }
  const start = await entryStart(database, gte)
  const entries = await firstEntries(database, { gte: start, lt }, readAtOnce)
  const [first, last] = [entries[0], entries.at(-1)]
  if (!first || !last) return { count: 0 }
  const batch = database.batch()
  let count = 0
  for (const entry of entries) {
    const isMeant = ({ name }: NamedRecord) =>
      isWithin(name, range) && positionInRecordKey(name).writeNumber <= lastWrite
    count += takeOut(batch, entry, isMeant).count
  }
  if (count > 0) {
    const watermark = await lowerWatermark(database, batch, first[0])
    const from = Math.max(datetimeInRecordKey(first[0]), datetimeInRecordKey(gte))
    const to = Math.min(datetimeInRecordKey(newestName(last)), datetimeInRecordKey(lt))
    await dropRollups(database, batch, resourceInRecordKey(gte), from, to)
    await database.write(batch, { sync: true })
    unpacked.changedAt(first[0], watermark)
  } else {
    await batch.close()
  }
  return { count, next: behind(newestName(last)) }
}

/** Removes records from an entry. @returns their number, and the new keys under which the batch puts the rest */
export function takeOut(
  batch: Batch,
  entry: Entry,
  isTaken: (record: NamedRecord) => boolean,
): { readonly count: number; readonly added: readonly Buffer[] } {
  const [entryName, bytes] = entry
  const chunk = decodeChunk('', entry)
  let count = 0
  const parts = partsOf(chunk, (name, record) => {
    const isLeft = !isTaken({ name, record })
    if (!isLeft) count++
    return isLeft
  })
  if (count === 0) return { count, added: [] }
  batch.del(entryName)
  if (!isChunk(bytes)) return { count, added: [] }
  for (const part of parts) batch.put(chunkKey(part), Buffer.from(chunkValue(part)))
  return { count, added: parts.map(chunkKey).filter(name => !name.equals(entryName)) }
}
