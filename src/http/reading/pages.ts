import type { RecordStore, TimeRange } from '../../core/ports.ts'
import type { StoredRecord } from '../../core/record/record.ts'
import { ThingwireError } from '../../errors.ts'

/**
 * Minimum and maximum number of records in a page. Objects of large pages would survive minor garbage collections, and would stay
 * in memory until a full one. Small pages would be slow, because beginning a page costs as much as reading a few hundred records.
 */
const fewest = 250
const most = 4_000
/** Number of characters that the values of a page should have. How many records that takes is estimated from the previous page. */
const charactersAtOnce = 250_000

/** Number of records up to which a page is not a costly read. */
export const shortPage = 100

export interface WalkQuery extends TimeRange {
  readonly order: 'asc' | 'desc'
  /** Maximum number of records in all pages together. Default: no limit. */
  readonly limit?: number
  readonly cursor?: string
}

/** Pages of a range. @throws ThingwireError unknown_resource, invalid_cursor, or an error of the store */
export async function* pages(
  records: Pick<RecordStore, 'read'>,
  thingId: string,
  key: string,
  { limit = Number.POSITIVE_INFINITY, cursor, ...range }: WalkQuery,
): AsyncGenerator<readonly StoredRecord[], void> {
  let left = limit
  let next = cursor
  let atOnce = fewest
  for (let first = true; first || (next !== undefined && left > 0); first = false) {
    const query = { ...range, limit: Math.min(left, atOnce) }
    const page = await records.read(thingId, key, next === undefined ? query : { ...query, cursor: next })
    if (!page && first) throw new ThingwireError('unknown_resource')
    // The resource was removed after the previous page.
    if (!page) return
    left -= page.records.length
    next = page.next
    atOnce = recordsLike(page.records)
    yield page.records
  }
}

/** The number of records to read in the next page. */
function recordsLike(records: readonly StoredRecord[]): number {
  let characters = 0
  for (const { value } of records) characters += value.length
  const wanted = Math.floor((charactersAtOnce * records.length) / Math.max(characters, 1))
  return Math.min(Math.max(wanted, fewest), most)
}
