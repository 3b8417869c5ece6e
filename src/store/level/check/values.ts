import type { StoredRecord } from '../../../core/record/record.ts'
import type { Commit } from '../../contract.ts'
import { decodeRecord } from '../../record-value.ts'
import { namedRecords } from '../chunks/record-chunk.ts'
import type { Entry } from '../database/scan.ts'

/** Highest first byte of a record's value (../../record-value.ts). */
const highestKind = 2

/** @returns undefined if the text is not JSON */
export function parseJson(text: Buffer | string): unknown {
  try {
    return JSON.parse(text.toString())
  } catch {
    return undefined
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The fault of a record, if any. @param decode default: decodes `payload` @param payload kind, geo and value */
export function faultOfRecord(decode: (() => StoredRecord) | undefined, payload: Buffer): string | undefined {
  if (payload.length < 2 || (payload[0] ?? 0) > highestKind) return 'its value is not a valid record'
  try {
    return faultOfContent(decode ? decode() : decodeRecord('', 0, payload))
  } catch {
    return 'its value is not a valid record'
  }
}

/** The fault of a chunk of several records, if any. */
export function faultOfChunk(entry: Entry): string | undefined {
  try {
    // Throws if a datetime or a place is out of bounds.
    const named = namedRecords('', entry)
    const isChunk =
      named[0]?.name.equals(entry[0]) && named.every(({ record }) => Number.isSafeInteger(record.datetime))
    if (!isChunk) return 'its value is not a valid chunk of records'
    return named.map(({ record }) => faultOfContent(record)).find(fault => fault !== undefined)
  } catch {
    return 'its value is not a valid chunk of records'
  }
}

function faultOfContent({ value, geo }: StoredRecord): string | undefined {
  if (parseJson(value) === undefined) return 'its value is not JSON'
  const isOnEarth = !geo || (Math.abs(geo.lat) <= 90 && Math.abs(geo.long) <= 180)
  return isOnEarth ? undefined : 'its position is invalid'
}

/** The fault of an entry of the commit log, if any. */
export function faultOfLogEntry(decode: () => Commit): string | undefined {
  try {
    const { thingId, receivedAt, broadcast, records, latest } = decode()
    const isCommit =
      /^[!-~]+$/.test(thingId) &&
      typeof receivedAt === 'number' &&
      typeof broadcast === 'boolean' &&
      Array.isArray(records) &&
      latest.every(({ key }) => typeof key === 'string') &&
      records.every(record => typeof record.key === 'string' && parseJson(record.value) !== undefined)
    return isCommit ? undefined : 'its content is not a valid commit'
  } catch {
    return 'its content is not a valid commit'
  }
}
