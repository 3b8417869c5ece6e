import { maximumPageText } from '../../../core/ports.ts'
import type { StoredRecord } from '../../../core/record/record.ts'
import { ThingwireError } from '../../../errors.ts'
import type { Page, PageQuery } from '../../contract.ts'
import type { RedisDatabase } from '../connection/database.ts'
import { decodeMember } from '../record-member.ts'
import { type Reply, Script } from '../script.ts'

const pageScript = new Script('page', 'time-line')

/** A position is datetime (6 bytes), write number (7) and place (2). A cursor is the position of the last record of a page. */
const positionLength = 15
const datetimeLength = 6

/**
 * Reads a page as it was at the first read, however many reads are needed. So the page never shows part of a write.
 *
 * @returns undefined if nothing was ever stored under the key
 * @throws ThingwireError invalid_cursor, store_unavailable
 */
export async function readPage(
  database: RedisDatabase,
  thingId: string,
  key: string,
  query: PageQuery,
): Promise<Page | undefined> {
  const { limit, cursor } = query
  const records: StoredRecord[] = []
  let characters = 0
  const start = cursor === undefined ? undefined : readCursor(cursor)
  if (cursor !== undefined && !start) {
    if (await readPiece(database, thingId, key, query, 1, undefined, undefined)) {
      throw new ThingwireError('invalid_cursor')
    }
    return undefined
  }
  let after = start
  let asOf: number | undefined
  for (;;) {
    const piece = await readPiece(database, thingId, key, query, limit - records.length, asOf, after)
    if (!piece) return asOf === undefined ? undefined : { records }
    for (const [index, bytes] of piece.records.entries()) {
      const record = decode(key, bytes)
      records.push(record)
      characters += record.value.length
      if (records.length < limit && characters < maximumPageText) continue
      const hasMore = index + 1 < piece.records.length || piece.end !== undefined
      return hasMore ? { records, next: writeCursor(bytes) } : { records }
    }
    if (!piece.end) return { records }
    after = piece.end
    asOf ??= piece.newest
  }
}

/** The newest record of a resource as of the write `asOf`, and the newest write number when the record was read. */
export async function readNewest(
  database: RedisDatabase,
  thingId: string,
  key: string,
  asOf: number,
): Promise<{ record: StoredRecord | undefined; newest: number }> {
  let after: Buffer | undefined
  let newest = 0
  for (;;) {
    const piece = await readPiece(database, thingId, key, { order: 'desc' }, 1, asOf, after)
    newest = piece?.newest ?? newest
    const [bytes] = piece?.records ?? []
    if (bytes || !piece?.end) return { record: bytes && decode(key, bytes), newest }
    after = piece.end
  }
}

/** Calls page.lua. A record is returned as its datetime (6 bytes) and its member: the first 15 bytes are its position. */
async function readPiece(
  database: RedisDatabase,
  thingId: string,
  key: string,
  { order, from, to }: Omit<PageQuery, 'limit' | 'cursor'>,
  wanted: number,
  asOf: number | undefined,
  after: Buffer | undefined,
) {
  const args = [thingId, key, order, from ?? '', to ?? '', wanted, asOf ?? '', ...(after ? [after] : [])]
  const reply = await database.run(pageScript, ...args)
  if (reply === null) return undefined
  const [newest, records, end] = reply as readonly Reply[] as readonly [number, readonly Buffer[], Buffer?]
  return { newest, records, end }
}

function decode(key: string, bytes: Buffer): StoredRecord {
  return decodeMember(key, bytes.readUIntBE(0, datetimeLength), bytes.subarray(datetimeLength))
}

function writeCursor(record: Buffer): string {
  return record.toString('base64url', 0, positionLength)
}

/** @returns undefined if the cursor is invalid */
function readCursor(cursor: string): Buffer | undefined {
  const position = Buffer.from(cursor, 'base64url')
  const isOne = position.length === positionLength && position.toString('base64url') === cursor
  return isOne ? position : undefined
}
