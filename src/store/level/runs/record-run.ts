import type { StoredRecord } from '../../../core/record/record.ts'
import { decodeRecord, recordValue } from '../../record-value.ts'
import type { Entry } from '../database/scan.ts'
import { positionInRecordKey, recordKey, resourceInRecordKey } from '../keys.ts'

/**
 * Records of one write that stand one behind another in their resource, with nothing between them: what one entry of the
 * database holds, under the key of its first record. Most are runs of one. LevelDB's work is by the entry, so one for all
 * values of a batch costs a fraction of one for each.
 *
 * The value of a run of one is that of the record (../record-value.ts). That of a longer one is text: a byte that says so, then
 * its records, each a head and the value as JSON text. JSON has none of the control characters that stand between them.
 */
export interface Run {
  readonly resource: number
  readonly writeNumber: number
  readonly records: readonly StoredRecord[]
  /** Of each record, in the write. */
  readonly places: readonly number[]
}

/** A record of a run in its place; `name` is the key that it would have alone. */
export interface NamedRecord {
  readonly name: Buffer
  readonly record: StoredRecord
}

/** The first byte of a run's value: no kind of record has it. */
const runMark = 4
const runStart = String.fromCharCode(runMark)
const recordEnd = '\x01'
const headEnd = '\x02'

/** Of one run: what has to be written anew when a late record parts it, and read for its last. */
const mostRecords = 128
const mostText = 4_096

/** A run while its write is put together. */
export class RunDraft implements Run {
  readonly resource: number
  readonly writeNumber: number
  readonly records: StoredRecord[] = []
  readonly places: number[] = []
  #text = 0

  constructor(resource: number, writeNumber: number) {
    this.resource = resource
    this.writeNumber = writeNumber
  }

  /** Adds a record behind the others, if it may be as long as that. @returns whether it was added */
  add(record: StoredRecord, place: number): boolean {
    const text = this.#text + record.value.length
    if (this.records.length === mostRecords || (text > mostText && this.records.length > 0)) return false
    this.#text = text
    this.records.push(record)
    this.places.push(place)
    return true
  }
}

export function firstDatetime({ records }: Run): number {
  return records[0]?.datetime ?? 0
}

export function lastDatetime({ records }: Run): number {
  return records.at(-1)?.datetime ?? 0
}

/** The key of its entry. */
export function runKey(run: Run): Buffer {
  return nameIn(run, 0)
}

export function runValue({ records, places }: Run): Buffer | string {
  const [first] = records
  if (!first) throw new TypeError('a run of no record')
  if (records.length === 1) return recordValue(first)
  let text = runStart
  for (let index = 0; index < records.length; index++) {
    const { datetime, value, geo } = records[index] as StoredRecord
    if (index > 0) text += recordEnd
    if (datetime !== first.datetime) text += datetime - first.datetime
    text += `,${places[index]}`
    if (geo) text += `,${geo.lat},${geo.long}`
    text += headEnd + value
  }
  return text
}

/** @param key of the resource */
export function decodeRun(key: string, [name, bytes]: Entry): Run {
  const resource = resourceInRecordKey(name)
  const { datetime, writeNumber, place } = positionInRecordKey(name)
  if (!isRun(bytes)) {
    return { resource, writeNumber, records: [decodeRecord(key, datetime, bytes)], places: [place] }
  }
  const records: StoredRecord[] = []
  const places: number[] = []
  for (const part of bytes.toString('utf8', 1).split(recordEnd)) {
    const { record, place } = decodePart(key, datetime, part)
    records.push(record)
    places.push(place)
  }
  return { resource, writeNumber, records, places }
}

/** The newest record of an entry. */
export function newestIn(key: string, [name, bytes]: Entry): StoredRecord {
  const { datetime } = positionInRecordKey(name)
  if (!isRun(bytes)) return decodeRecord(key, datetime, bytes)
  const start = bytes.lastIndexOf(recordEnd) + 1
  return decodePart(key, datetime, bytes.toString('utf8', start)).record
}

/** The key that the newest record of an entry would have alone. */
export function newestName(entry: Entry): Buffer {
  if (!isRun(entry[1])) return entry[0]
  const run = decodeRun('', entry)
  return nameIn(run, run.records.length - 1)
}

export function namedRecords(key: string, entry: Entry): NamedRecord[] {
  const run = decodeRun(key, entry)
  return run.records.map((record, index) => ({ name: nameIn(run, index), record }))
}

/** Whether the value is that of several records. */
export function isRun(bytes: Buffer): boolean {
  return bytes[0] === runMark
}

/** What is left of a run without some of its records: runs of those that stood together. */
export function partsOf(run: Run, isLeft: (name: Buffer, record: StoredRecord) => boolean): Run[] {
  const parts: { records: StoredRecord[]; places: number[] }[] = []
  let part: (typeof parts)[number] | undefined
  for (const [index, record] of run.records.entries()) {
    if (!isLeft(nameIn(run, index), record)) {
      part = undefined
      continue
    }
    if (!part) {
      part = { records: [], places: [] }
      parts.push(part)
    }
    part.records.push(record)
    part.places.push(run.places[index] ?? 0)
  }
  return parts.map(part => ({ ...run, ...part }))
}

/** The runs between which records of these datetimes stand that were written later. */
export function partedAt(
  { resource, writeNumber, records, places }: Run,
  datetimes: readonly number[],
): Run[] {
  const sorted = [...datetimes].sort((a, b) => a - b)
  const starts = [0]
  let next = 0
  for (let index = 1; index < records.length; index++) {
    const [before, behind] = [records[index - 1]?.datetime ?? 0, records[index]?.datetime ?? 0]
    while ((sorted[next] ?? before) < before) next++
    if ((sorted[next] ?? behind) < behind) starts.push(index)
  }
  return starts.map((start, index) => ({
    resource,
    writeNumber,
    records: records.slice(start, starts[index + 1]),
    places: places.slice(start, starts[index + 1]),
  }))
}

function nameIn({ resource, writeNumber, records, places }: Run, index: number): Buffer {
  return recordKey(resource, records[index]?.datetime ?? 0, writeNumber, places[index] ?? 0)
}

/** @param first datetime of the first record of the run */
function decodePart(key: string, first: number, part: string): { record: StoredRecord; place: number } {
  const end = part.indexOf(headEnd)
  const [offset, place, lat, long] = part.slice(0, end).split(',')
  const datetime = first + Number(offset)
  const value = part.slice(end + 1)
  const record =
    lat === undefined
      ? { key, datetime, value }
      : { key, datetime, value, geo: { lat: Number(lat), long: Number(long) } }
  return { record, place: Number(place) }
}
