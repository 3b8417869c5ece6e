import type { Commit } from '../../src/core/ports.ts'
import type { AcceptedRecord, NewRecord } from '../../src/core/record/record.ts'

/** A record on its way into the store. @param value JSON text */
export function newRecordOf(key: string, value: string, more: Partial<NewRecord> = {}): NewRecord {
  return { key, value, datetime: Number.NaN, place: 0, explicit: false, ...more }
}

/** A record as it is committed. @param value JSON text */
export function recordOf(key: string, value: string, more: Partial<AcceptedRecord> = {}): AcceptedRecord {
  return { key, value, datetime: Date.UTC(2026, 0, 2), place: 0, explicit: false, ...more }
}

/** A commit of one thing, told and kept unless something else is said. */
export function commitOf(writeNumber: number, more: Partial<Commit> = {}): Commit {
  const told = { stored: true, broadcast: true, receivedAt: 0 }
  return { thingId: 'thing', writeNumber, records: [], latest: [], ...told, ...more }
}
