import type { MagicRules } from '../ports.ts'
import { futureTolerance, parseDatetime } from './datetime.ts'
import { type Geo, parseGeo } from './geo.ts'
import { isMagicKey, isOrdinaryKey } from './key.ts'
import { isProblem, type Problem } from './problem.ts'
import type { NewRecord, Writable } from './record.ts'
import { forbiddenMember, forbiddenMemberOf, valueText } from './value.ts'

export interface RecordContext {
  /** Current receipt time, milliseconds. A datetime may be later than `now` by at most `futureTolerance`. */
  readonly now: number
  readonly magic: MagicRules
}

/**
 * Checks one record against every rule of contract §2. Uses functions instead of a schema, since mapping the issues of a schema to
 * reason codes and fields would take several times as long.
 *
 * @param place index in `values`
 * @returns the record, or its first problem in the order key, geo, value, datetime
 */
export function parseRecord(input: unknown, place: number, context: RecordContext): NewRecord | Problem {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return { field: '', reason: 'invalid_record', message: 'a record must be an object {key, value}' }
  }
  const forbidden = forbiddenMemberOf(input)
  if (forbidden) return { ...forbiddenMember('a record', forbidden), field: forbidden }
  const sent = input as SentRecord
  const { key } = sent
  if (typeof key !== 'string' || !(isMagicKey(key) || isOrdinaryKey(key))) {
    const isDots = key === '.' || key === '..'
    const message = isDots
      ? `key must not be ${key} alone: no URL can name it`
      : 'key must be 1 to 128 letters, digits, ".", "-" or "_"'
    return { field: 'key', reason: 'invalid_key', message }
  }
  const geo = sent.geo === undefined || sent.geo === null ? undefined : parseGeo(sent.geo)
  if (geo && isProblem(geo)) return geo
  const read = isMagicKey(key) ? readMagic(key, sent.value, geo, context) : readOrdinary(sent.value, geo)
  if (isProblem(read)) return read
  const datetime = parseMeasuredAt(sent.datetime, context)
  if (typeof datetime === 'object') return datetime
  const explicit = datetime !== undefined
  const record: Writable<NewRecord> = {
    key,
    datetime: explicit ? datetime : Number.NaN,
    value: read.value,
    place,
    explicit,
  }
  if (read.geo) record.geo = read.geo
  if (explicit) record.datetimeText = sent.datetime as string
  if (read.written) record.written = read.written
  return record
}

interface SentRecord {
  readonly key?: unknown
  readonly value?: unknown
  readonly geo?: unknown
  readonly datetime?: unknown
}

interface Reading {
  /** JSON text. */
  readonly value: string
  readonly geo?: Geo | undefined
  readonly written?: NewRecord['written']
}

function readOrdinary(sent: unknown, geo: Geo | undefined): Reading | Problem {
  // A record with only a position must have the value null, since a missing value is usually a mistake.
  if (sent === undefined || (sent === null && !geo)) {
    const message = 'value must be a string, number, boolean, object or array, or null together with geo'
    return { field: 'value', reason: 'invalid_value', message }
  }
  const value = valueText(sent)
  return typeof value === 'string' ? { value, geo } : value
}

function readMagic(
  key: string,
  sent: unknown,
  geo: Geo | undefined,
  { magic }: RecordContext,
): Reading | Problem {
  const checked = magic.check({ key, value: sent, geo })
  if (isProblem(checked)) return checked
  // The rules for values also apply to parts that a magic resource leaves out of its history.
  const asSent = valueText(sent)
  if (typeof asSent !== 'string') return asSent
  if (checked.value === sent) return { value: asSent, geo: checked.geo }
  const value = valueText(checked.value)
  if (typeof value !== 'string') return value
  return { value, geo: checked.geo, written: geo ? { value: asSent, geo } : { value: asSent } }
}

function parseMeasuredAt(sent: unknown, context: RecordContext): number | undefined | Problem {
  if (sent === undefined || sent === null) return undefined
  const datetime = typeof sent === 'string' ? parseDatetime(sent) : undefined
  if (datetime === undefined) {
    const message = 'datetime must be a real time in the form YYYYMMDDHHmmss (UTC) or RFC 3339'
    return { field: 'datetime', reason: 'invalid_datetime', message }
  }
  if (datetime < 0 || datetime > context.now + futureTolerance) {
    const message = 'datetime must be from 1970-01-01 to 24 hours ahead of the server'
    return { field: 'datetime', reason: 'datetime_out_of_range', message }
  }
  return datetime
}
