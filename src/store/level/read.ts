import { maximumPageText } from '../../core/ports.ts'
import type { StoredRecord } from '../../core/record.ts'
import { ThingwireError } from '../../errors.ts'
import type { Page, PageQuery } from '../contract.ts'
import { decodeRecord } from '../record-value.ts'
import type { Database } from './database.ts'
import { positionInRecordKey, recordKey, recordKeys } from './keys.ts'

/** A cursor is the position of the last record given: what follows its resource number in the record's key. */
const positionStart = 5
const positionLength = 14

/** A page of a resource that has no records any more. @throws ThingwireError invalid_cursor */
export function emptyPage({ cursor }: PageQuery): Page {
  if (cursor !== undefined) positionIn(cursor)
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
        return { records, next: last.toString('base64url', positionStart) }
      }
      const record = decodeRecord(key, positionInRecordKey(entryKey).datetime, bytes)
      records.push(record)
      characters += record.value.length
      last = entryKey
    }
  }
  return { records }
}

function cursorKey(resource: number, cursor: string): Buffer {
  return Buffer.concat([recordKey(resource, 0, 0, 0).subarray(0, positionStart), positionIn(cursor)])
}

function positionIn(cursor: string): Buffer {
  const position = Buffer.from(cursor, 'base64url')
  if (position.length !== positionLength || position.toString('base64url') !== cursor) {
    throw new ThingwireError('invalid_cursor')
  }
  return position
}
