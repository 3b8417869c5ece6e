import { createHash } from 'node:crypto'
import type { Commit } from '../core/ports.ts'
import { formatDatetime } from '../core/record/datetime.ts'
import type { AcceptedRecord } from '../core/record/record.ts'

/** A record on its way to the central server. */
export interface WaitingRecord {
  /** Of which it is a record. */
  readonly commit: Commit
  readonly record: AcceptedRecord
  /** Whether the commit is forwarded with it. */
  readonly isLast: boolean
}

/** Records of one thing that are sent as one write, in their order. */
export interface Batch {
  readonly records: readonly WaitingRecord[]
  /** By which a refusal is recognised. */
  readonly id: string
  readonly payload: Buffer
}

export interface BatchLimits {
  readonly records: number
  /** Of the payload. */
  readonly bytes: number
}

/** Bytes of a payload beside its records, at most. */
const envelope = '{"id":"12345678901234567890","broadcast":false,"values":[]}'.length

/**
 * The next write: as many of the records as the limits allow, one at least, and those of one `broadcast` flag.
 *
 * @param waiting not empty
 */
export function formBatch(waiting: readonly WaitingRecord[], { records, bytes }: BatchLimits): Batch {
  const taken: WaitingRecord[] = []
  const texts: string[] = []
  let size = envelope
  const broadcast = waiting[0]?.commit.broadcast ?? true
  for (const each of waiting) {
    if (taken.length >= records || each.commit.broadcast !== broadcast) break
    const text = textOf(each.record)
    size += Buffer.byteLength(text) + 1
    if (taken.length > 0 && size > bytes) break
    taken.push(each)
    texts.push(text)
  }
  const values = texts.join(',')
  const id = idOf(taken, values)
  const flag = broadcast ? '' : ',"broadcast":false'
  return { records: taken, id, payload: Buffer.from(`{"id":"${id}"${flag},"values":[${values}]}`) }
}

/** As its sender wrote it, but for the datetime, which is there in any case. */
function textOf({ key, value, geo, written, datetime, datetimeText }: AcceptedRecord): string {
  const measured = written ?? { value, geo }
  const at = datetimeText ?? formatDatetime(datetime)
  const place = measured.geo ? `,"geo":${JSON.stringify(measured.geo)}` : ''
  return `{"key":${JSON.stringify(key)},"value":${measured.value}${place},"datetime":${JSON.stringify(at)}}`
}

/**
 * The write id: of the content and its place in the log. So a write that is sent again has the same id only if it is the same,
 * however the records are put together then, and also where a store that was restored gives write numbers again. Of 20
 * characters: a longer one could be taken for a credential, and be redacted in the report of a refusal.
 */
function idOf(records: readonly WaitingRecord[], values: string): string {
  const [first] = records
  const from = `${first?.commit.writeNumber}.${first?.record.place}`
  return createHash('sha256').update(`${from} ${values}`).digest('base64url').slice(0, 20)
}
