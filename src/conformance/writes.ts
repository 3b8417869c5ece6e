import { setImmediate } from 'node:timers/promises'
import type { NewRecord, StoredRecord } from '../core/record/record.ts'
import { promised, type Waiting } from '../store/commit-ticket.ts'
import type {
  Append,
  DocumentPut,
  DriverDocuments,
  DriverRecords,
  PageQuery,
  Receipt,
  RecordStore,
  RefusedWrite,
} from '../store/contract.ts'

/** When the suite's records with a datetime of their own were measured, unless a test says otherwise. */
export const measuredAt = Date.UTC(2026, 10, 21, 9, 30)
export const thing = 'abcdefghijklmnop'
export const otherThing = 'qrstuvwxyz234567'
export const key = 'temperature'

type Sent = Omit<NewRecord, 'place'>

/** A record whose sender gave the datetime. */
export function measured(datetime: number, value: unknown, more: Partial<StoredRecord> = {}): Sent {
  return { key, datetime, value: JSON.stringify(value), explicit: true, ...more }
}

/** A record without a datetime of its own. */
export function received(value: unknown, more: Partial<StoredRecord> = {}): Sent {
  return { ...measured(measuredAt, value, more), datetime: Number.NaN, explicit: false }
}

export function write(records: readonly Sent[], more: Partial<Append> = {}): Append {
  return {
    thingId: thing,
    records: records.map(({ key, datetime, value, explicit, ...rest }, place) => ({
      ...{ key, datetime, value, place, explicit },
      ...rest,
    })),
    store: true,
    answer: {},
    broadcast: true,
    ...more,
  }
}

export function refusal(datetime: number): RefusedWrite {
  return { datetime, door: 'http', reason: 'invalid_json', message: 'the body must be JSON', excerpt: '{' }
}

/** Of a write that is waited for as long as any test takes. */
export function waitedFor(): Waiting {
  return { expired: false, deadline: performance.now() + 600_000 }
}

/** Of a write that nobody waits for any more. */
export const givenUp: Waiting = { expired: true, deadline: 0 }

/** What comes of an append to a driver. */
export function appendTo(
  records: Pick<DriverRecords, 'append'>,
  append: Append,
  waiting: Waiting,
): Promise<Receipt> {
  return promised(waiting, ticket => records.append(append, ticket))
}

/** What comes of a put to a driver. */
export function putTo(
  documents: Pick<DriverDocuments, 'put'>,
  put: DocumentPut,
  waiting: Waiting,
): Promise<unknown> {
  return promised(waiting, ticket => documents.put(put, 'keep', ticket))
}

/** Appends one record per value, each in a write of its own, all at once. */
export async function appendEach(records: RecordStore, newRecords: readonly Sent[]): Promise<void> {
  await Promise.all(newRecords.map(record => records.append(write([record]))))
}

export interface Where extends Partial<PageQuery> {
  readonly thingId?: string
  readonly key?: string
}

const everything = 100_000

/** All records of a resource, `temperature` of the usual thing in ascending order unless `where` says otherwise. */
export async function readAll(
  records: Pick<RecordStore, 'read'>,
  where: Where = {},
): Promise<readonly StoredRecord[]> {
  const { thingId = thing, key: wanted = key, ...query } = where
  const page = await records.read(thingId, wanted, { order: 'asc', limit: everything, ...query })
  return page?.records ?? []
}

/** The values of those records, parsed. */
export async function valuesOf(records: Pick<RecordStore, 'read'>, where: Where = {}): Promise<unknown[]> {
  return (await readAll(records, where)).map(({ value }) => JSON.parse(value))
}

/** Pages of a resource from the first to the last; `between` runs after each. */
export async function* pages(
  records: RecordStore,
  query: PageQuery,
): AsyncGenerator<readonly StoredRecord[], void, undefined> {
  let cursor: string | undefined
  do {
    const page = await records.read(thing, key, cursor === undefined ? query : { ...query, cursor })
    if (page === undefined) return
    yield page.records
    cursor = page.next
  } while (cursor !== undefined)
}

const readsInARow = 100

/** Calls `read` again and again while `working` is under way, and is done when both are. */
export async function readDuring(working: Promise<unknown>, read: () => Promise<unknown>): Promise<void> {
  let isWorking = true
  const settled = working.finally(() => {
    isWorking = false
  })
  try {
    for (let reads = 1; isWorking; reads++) {
      await read()
      // Reads that never leave the microtasks would hold up a write that waits for anything else.
      if (reads % readsInARow === 0) await setImmediate()
    }
  } finally {
    await Promise.allSettled([settled])
  }
  await settled
}

/** Whole numbers from 0 to `count` - 1. */
export function count(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

export function ascending(numbers: Iterable<number>): number[] {
  return [...numbers].sort((a, b) => a - b)
}

/** Values 0..9, a second apart. */
export const tenSeconds = count(10).map(value => measured(value * 1_000, value))

/** What `removeOld` removes of a resource, piece by piece, to its end. */
export async function removeAllOld(records: RecordStore, before: number, ofKey = key): Promise<number> {
  let removed = 0
  let next: string | undefined
  do {
    const piece = await records.removeOld(thing, ofKey, before, next)
    removed += piece.count
    next = piece.next
  } while (next !== undefined)
  return removed
}
