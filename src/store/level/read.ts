import { maximumPageText } from '../../core/ports.ts'
import type { StoredRecord } from '../../core/record.ts'
import { ThingwireError } from '../../errors.ts'
import type { Page, PageQuery } from '../contract.ts'
import { decodeRecord } from '../record-value.ts'
import type { Database } from './database.ts'
import { keyAtPosition, positionInRecordKey, positionText, recordKeys } from './keys.ts'

/** A page of a resource that has no records any more. @throws ThingwireError invalid_cursor */
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
  const bounds = after
    ? order === 'asc'
      ? { gt: after, lt: range.lt }
      : { gte: range.gte, lt: after }
    : range
  // A cursor from outside the range would turn the bounds round.
  if (Buffer.compare('gt' in bounds ? bounds.gt : bounds.gte, bounds.lt) >= 0) return { records: [] }
  const iterator = database.level.iterator({ ...bounds, reverse: order === 'desc', limit: limit + 1 })
  try {
    return await takePage(iterator, key, limit)
  } finally {
    await iterator.close()
  }
}

async function takePage(
  iterator: { nextv(size: number): Promise<[Buffer, Buffer][]> },
  key: string,
  limit: number,
): Promise<Page> {
  const records: StoredRecord[] = []
  let characters = 0
  let last: Buffer | undefined
  for (
    let entries = await iterator.nextv(limit + 1);
    entries.length > 0;
    entries = await iterator.nextv(limit + 1)
  ) {
    for (const [entryKey, bytes] of entries) {
      if (last && (records.length === limit || characters >= maximumPageText)) {
        return { records, next: positionText(last) }
      }
      const record = decodeRecord(key, positionInRecordKey(entryKey).datetime, bytes)
      records.push(record)
      characters += record.value.length
      last = entryKey
    }
  }
  return { records }
}

/** A cursor is the position of the last record given. */
function cursorKey(resource: number, cursor: string): Buffer {
  const key = keyAtPosition(resource, cursor)
  if (!key) throw new ThingwireError('invalid_cursor')
  return key
}
