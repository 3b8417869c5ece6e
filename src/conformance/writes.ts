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

/** The default datetime of test records. */
export const measuredAt = Date.UTC(2026, 10, 21, 9, 30)
export const thing = 'abcdefghijklmnop'
export const otherThing = 'qrstuvwxyz234567'
export const key = 'temperature'

type Sent = Omit<NewRecord, 'place'>

/** A record with a datetime from its sender. */
export function measured(datetime: number, value: unknown, more: Partial<StoredRecord> = {}): Sent {
  return { key, datetime, value: JSON.stringify(value), explicit: true, ...more }
}

/** A record without a datetime from its sender. */
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

/** The ticket state of a write whose caller waits longer than any test takes. */
export function waitedFor(): Waiting {
  return { expired: false, deadline: performance.now() + 600_000 }
}

/** The ticket state of a write whose caller has given up. */
export const givenUp: Waiting = { expired: true, deadline: 0 }

/** Appends to a driver. Returns a promise that settles with the ticket of the write. */
export function appendTo(
  records: Pick<DriverRecords, 'append'>,
  append: Append,
  waiting: Waiting,
): Promise<Receipt> {
  return promised(waiting, ticket => records.append(append, ticket))
}

/** Puts documents into a driver. Returns a promise that settles with the ticket of the put. */
export function putTo(
  documents: Pick<DriverDocuments, 'put'>,
  put: DocumentPut,
  waiting: Waiting,
): Promise<unknown> {
  return promised(waiting, ticket => documents.put(put, 'keep', ticket))
}

/** Appends each record in a separate write, all writes at the same time. */
export async function appendEach(records: RecordStore, newRecords: readonly Sent[]): Promise<void> {
  await Promise.all(newRecords.map(record => records.append(write([record]))))
}

export interface Where extends Partial<PageQuery> {
  readonly thingId?: string
  readonly key?: string
}

const everything = 100_000

/** All records of a resource. Default: `temperature` of `thing`, ascending. */
export async function readAll(
  records: Pick<RecordStore, 'read'>,
  where: Where = {},
): Promise<readonly StoredRecord[]> {
  const { thingId = thing, key: wanted = key, ...query } = where
  const page = await records.read(thingId, wanted, { order: 'asc', limit: everything, ...query })
  return page?.records ?? []
}

/** The parsed values of the records that `readAll` returns. */
export async function valuesOf(records: Pick<RecordStore, 'read'>, where: Where = {}): Promise<unknown[]> {
  return (await readAll(records, where)).map(({ value }) => JSON.parse(value))
}

/** Pages of a resource from the first to the last. */
export async function* pages(
  records: Pick<RecordStore, 'read'>,
  { thingId = thing, key: wanted = key, ...query }: Where & PageQuery,
): AsyncGenerator<readonly StoredRecord[], void, undefined> {
  let cursor: string | undefined
  do {
    const page = await records.read(thingId, wanted, cursor === undefined ? query : { ...query, cursor })
    if (page === undefined) return
    yield page.records
    cursor = page.next
  } while (cursor !== undefined)
}

const readsInARow = 100

/** Calls `read` repeatedly until `working` settles. @throws any error from `working` or `read` */
export async function readDuring(working: Promise<unknown>, read: () => Promise<unknown>): Promise<void> {
  let isWorking = true
  const settled = working.finally(() => {
    isWorking = false
  })
  try {
    for (let reads = 1; isWorking; reads++) {
      await read()
      // Reads that resolve only in microtasks would starve the writes.
      if (reads % readsInARow === 0) await setImmediate()
    }
  } finally {
    await Promise.allSettled([settled])
  }
  await settled
}

/** The whole numbers from 0 to `count`, exclusive. */
export function count(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

export function ascending(numbers: Iterable<number>): number[] {
  return [...numbers].sort((a, b) => a - b)
}

/** Records with the values 0..9, a second apart. */
export const tenSeconds = count(10).map(value => measured(value * 1_000, value))

/** Calls `removeOld` until all old records of a resource are removed. @returns the number of removed records */
export async function removeAllOld(
  records: RecordStore,
  before: number,
  ofKey = key,
  thingId = thing,
): Promise<number> {
  let removed = 0
  let next: string | undefined
  do {
    const piece = await records.removeOld(thingId, ofKey, before, next)
    removed += piece.count
    next = piece.next
  } while (next !== undefined)
  return removed
}
