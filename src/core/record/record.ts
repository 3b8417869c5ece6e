import type { Geo } from './geo.ts'

/** One point of a resource as it is stored and read back (contract §1). */
export interface StoredRecord {
  readonly key: string
  /** When it was measured: milliseconds since 1970-01-01T00:00:00Z. */
  readonly datetime: number
  /** The value as JSON text, exactly as it is given back. */
  readonly value: string
  readonly geo?: Geo
}

/**
 * A record of a write that has passed every rule of contract §2, on its way into the store. Not copied on it: of a hundred
 * thousand a second, the copies would cost a third of the rate.
 */
export interface NewRecord extends Omit<StoredRecord, 'datetime'> {
  /** Milliseconds. Of a record that is not `explicit`, NaN until the store sets the receipt time (contract §4.5). */
  datetime: number
  /** Whether the sender gave the datetime. */
  readonly explicit: boolean
  /** Place in the write's `values`, from 0; orders records of one write that have one datetime. */
  readonly place: number
  /** The datetime as the sender spelled it, if it gave one. Live messages of whole writes repeat it; it is not kept. */
  readonly datetimeText?: string
  /** What the sender wrote, where a magic resource keeps it in another form. */
  readonly written?: { readonly value: string; readonly geo?: Geo }
}

/** A record of a write at its commit. */
export type AcceptedRecord = Readonly<NewRecord>

/** Gives records their receipt time, milliseconds, where they have no datetime of their own. */
export function receive(records: readonly NewRecord[], receivedAt: number): void {
  for (const record of records) if (!record.explicit) record.datetime = receivedAt
}

/** While it is made: to spread what may be absent takes longer. */
export type Writable<T> = { -readonly [Member in keyof T]: T[Member] }

/** What was measured: of a record all but when and under which key. */
export type Measured = Pick<StoredRecord, 'value' | 'geo'>

/** A record without what is only known of it while it is a write: what a store keeps. */
export function storedForm({ key, datetime, value, geo }: StoredRecord): StoredRecord {
  return geo ? { key, datetime, value, geo } : { key, datetime, value }
}

/**
 * What makes two records the same measurement (contract §4, resend (a)) once key and datetime are equal: value and
 * geo, objects compared without regard to the order of their members.
 */
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
