import { maximumPageText } from '../../../core/ports.ts'
import type { StoredRecord } from '../../../core/record/record.ts'
import { ThingwireError } from '../../../errors.ts'
import type { Page, PageQuery } from '../../contract.ts'
import { type Chunk, nameIn } from '../chunks/chunk.ts'
import { chunksIn } from '../chunks/time-line.ts'
import type { Database } from '../database/database.ts'
import { behind, type KeyRange, keyAtPosition, positionText, recordKeys } from '../keys.ts'

/** Minimum size in bytes of a packed record. Limits the size of a read, so that a short page reads only a few chunks. */
const bytesOfRecord = 4
const bytesAtOnce = { least: 4 * 1024, most: 16 * 1024 }

/** The page of an emptied resource. @throws ThingwireError invalid_cursor */
export function emptyPage({ cursor }: PageQuery): Page {
  if (cursor !== undefined) cursorKey(0, cursor)
  return { records: [] }
}

/** @throws ThingwireError invalid_cursor */
export async function readPage(
  database: Database,
  resource: number,
  key: string,
  { from, to, order, limit, cursor }: PageQuery,
): Promise<Page> {
  const range = recordKeys(resource, from, to)
  const after = cursor === undefined ? undefined : cursorKey(resource, cursor)
  const wanted = after ? restOf(range, after, order) : range
  // If the cursor is past the end of the range, the bounds of `wanted` are in the wrong order.
  if (Buffer.compare(wanted.gte, wanted.lt) >= 0) return { records: [] }
  const reverse = order === 'desc'
  const records: StoredRecord[] = []
  let characters = 0
  let last: { readonly chunk: Chunk; readonly index: number } | undefined
  const isFull = () => records.length === limit || characters >= maximumPageText
  const bytes = Math.min(bytesAtOnce.most, Math.max(bytesAtOnce.least, limit * bytesOfRecord))
  const options = { limit: limit + 1, reverse, bytesAtOnce: bytes }
  for await (const chunks of chunksIn(database, key, wanted, options)) {
    for (const chunk of chunks) {
      if (last && isFull()) return { records, next: positionIn(last) }
      const found = reverse ? chunk.records.toReversed() : chunk.records
      let taken = 0
      for (const record of found) {
        if (isFull()) break
        records.push(record)
        characters += record.value.length
        taken++
      }
      last = { chunk, index: reverse ? found.length - taken : taken - 1 }
      if (taken < found.length) return { records, next: positionIn(last) }
    }
  }
  return { records }
}

/** The part of a range after a cursor. The cursor may be of another range. */
function restOf(range: KeyRange, after: Buffer, order: PageQuery['order']): KeyRange {
  if (order === 'desc') return Buffer.compare(after, range.lt) < 0 ? { ...range, lt: after } : range
  const gte = behind(after)
  return Buffer.compare(gte, range.gte) > 0 ? { ...range, gte } : range
}

function positionIn({ chunk, index }: { readonly chunk: Chunk; readonly index: number }): string {
  return positionText(nameIn(chunk, index))
}

/** A cursor is the position of the last record of a page. */
function cursorKey(resource: number, cursor: string): Buffer {
  const key = keyAtPosition(resource, cursor)
  if (!key) throw new ThingwireError('invalid_cursor')
  return key
}
