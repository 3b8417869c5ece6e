import type { Geo } from '../../src/core/record/geo.ts'
import type { Reason } from '../../src/errors.ts'
import type { Answer, ClientWrite, ReadRecord, Refusal } from './door.ts'

/** One write of a case, and what it must be answered. */
export interface Step extends ClientWrite {
  readonly answer: Answer
}

/** A row of the table: writes to a thing of its own, and everything that must be kept of them. */
export interface Case {
  readonly name: string
  /** One after another; the steps of an inner list are sent together, none waiting for another's answer. */
  readonly steps: readonly (Step | readonly Step[])[]
  /** By key, in ascending order; a key that is not here must not be there. */
  readonly records: Readonly<Record<string, readonly ReadRecord[]>>
}

/** A record as a client sends it. */
export interface SentRecord {
  readonly key: string
  readonly value?: unknown
  readonly geo?: unknown
  readonly datetime?: unknown
}

export const created: Answer = { created: true }

/** One record, to be read back as `read` says and otherwise as it was sent. */
export function taken(name: string, record: SentRecord, read: Partial<ReadRecord> = {}): Case {
  const expected = { value: record.value, datetime: 'receipt', ...geoOf(record.geo), ...read }
  return {
    name,
    steps: [{ body: { values: [record] }, answer: created }],
    records: { [record.key]: [expected] },
  }
}

function geoOf(geo: unknown): { geo?: Geo } {
  return geo === undefined || geo === null ? {} : { geo: geo as Geo }
}

/** One record whose value is sent as this JSON text, for what no object can spell. */
export function takenText(name: string, value: string, read: unknown): Case {
  const body = `{"values":[{"key":"reading","value":${value}}]}`
  return {
    name,
    steps: [{ body, answer: created }],
    records: { reading: [{ value: read, datetime: 'receipt' }] },
  }
}

/** One record, refused for this field. */
export function refused(name: string, record: unknown, field: string, reason: Reason): Case {
  return refusedBody(name, { values: [record] }, reason, [{ index: 0, field, reason }])
}

/** One record whose value is sent as this JSON text, refused for this field. */
export function refusedText(name: string, value: string, field: string, reason: Reason): Case {
  const body = `{"values":[{"key":"reading","value":${value}}]}`
  return refusedBody(name, body, reason, [{ index: 0, field, reason }])
}

/** A whole body, refused. */
export function refusedBody(
  name: string,
  body: ClientWrite['body'],
  reason: Reason,
  errors?: readonly Refusal[],
): Case {
  return { name, steps: [{ body, answer: refusal(reason, errors) }], records: {} }
}

export function refusal(reason: Reason, errors?: readonly Refusal[]): Answer {
  return errors ? { refused: reason, errors } : { refused: reason }
}

/** A write of these records, answered `created`. */
export function written(...values: readonly object[]): Step {
  return { body: { values }, answer: created }
}

/** What a record without datetime and geo reads as. */
export function received(value: unknown): ReadRecord {
  return { value, datetime: 'receipt' }
}

/** An array nested so deep: `nested(2)` is `[[]]`. */
export function nested(depth: number): unknown {
  return depth === 1 ? [] : [nested(depth - 1)]
}

/** ISO 8601 of a time so many milliseconds from now. */
export function fromNow(milliseconds: number): string {
  return new Date(Date.now() + milliseconds).toISOString()
}
