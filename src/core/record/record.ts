import type { Geo } from './geo.ts'

/** One measurement of a resource (contract §1). */
export interface StoredRecord {
  readonly key: string
  /** Measurement time: milliseconds since 1970-01-01T00:00:00Z. */
  readonly datetime: number
  /** JSON text of the value, exactly as it appears in answers. */
  readonly value: string
  readonly geo?: Geo
}

/**
 * A record of a write that has passed every rule of contract §2 and is not committed yet. `datetime` is mutable so that the store
 * can set it: copying each record instead would reduce the throughput of writes by a third.
 */
export interface NewRecord extends Omit<StoredRecord, 'datetime'> {
  /** Milliseconds. If the record is not `explicit`, this is NaN until the store sets the receipt time (contract §4.5). */
  datetime: number
  /** Whether the sender set the datetime. */
  readonly explicit: boolean
  /** Index in the write's `values`. Determines the order of records of one write with the same datetime. */
  readonly place: number
  /** The explicit datetime as the sender spelled it, for forwarding and for live messages with a whole write. Not stored. */
  readonly datetimeText?: string
  /** The record as it was sent; present only if a magic resource stores it in another form. */
  readonly written?: { readonly value: string; readonly geo?: Geo }
}

/** A record of a committed write. */
export type AcceptedRecord = Readonly<NewRecord>

/** Sets the receipt time, milliseconds, of records without an explicit datetime. */
export function receive(records: readonly NewRecord[], receivedAt: number): void {
  for (const record of records) if (!record.explicit) record.datetime = receivedAt
}

/** For objects under construction: assigning optional members is faster than spreading them. */
export type Writable<T> = { -readonly [Member in keyof T]: T[Member] }

export type Measured = Pick<StoredRecord, 'value' | 'geo'>

/** The record with only the members that a store keeps. */
export function storedForm({ key, datetime, value, geo }: StoredRecord): StoredRecord {
  return geo ? { key, datetime, value, geo } : { key, datetime, value }
}

/** A text that is the same for equal measurements (contract §4, resend (a)), whatever the order of object members. */
export function measurement(record: Measured): string {
  const text = /^[[{]/.test(record.value)
    ? JSON.stringify(sortMembers(JSON.parse(record.value)))
    : record.value
  return record.geo ? `${text}@${record.geo.lat},${record.geo.long}` : text
}

function sortMembers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sortMembers)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, member]) => [name, sortMembers(member)]))
}
