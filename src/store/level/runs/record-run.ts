import type { StoredRecord } from '../../../core/record/record.ts'
import { decodeRecord, recordValue } from '../../record-value.ts'
import type { Entry } from '../database/scan.ts'
import { positionInRecordKey, resourceInRecordKey } from '../keys.ts'
import { countInPacked, decodePacked, namesInPacked, packedMark, packedValue } from './packed-run.ts'
import { all, chosen, type NamedRecord, named, newest, type Run } from './run.ts'
import { countInText, decodeText, newestInText, newestNameInText, textMark, textValue } from './text-run.ts'

/**
 * The forms of a run in the database, told apart by the first byte of the value: of one record, that of the record
 * (../record-value.ts); of several of one write, text (text-run.ts); of many writes, packed (packed-run.ts).
 */

/** Of one that is text: what has to be written anew when a late record parts it, and read for its last. */
const mostRecords = 128
const mostText = 4_096

/** A run while its write is put together. */
export class RunDraft implements Run {
  readonly resource: number
  readonly records: StoredRecord[] = []
  readonly writeNumbers: number[] = []
  readonly places: number[] = []
  readonly #writeNumber: number
  #text = 0

  constructor(resource: number, writeNumber: number) {
    this.resource = resource
    this.#writeNumber = writeNumber
  }

  /** Adds a record behind the others, if it may be as long as that. @returns whether it was added */
  add(record: StoredRecord, place: number): boolean {
    const text = this.#text + record.value.length
    if (this.records.length === mostRecords || (text > mostText && this.records.length > 0)) return false
    this.#text = text
    this.records.push(record)
    this.writeNumbers.push(this.#writeNumber)
    this.places.push(place)
    return true
  }
}

/** The value of its entry: text, which costs least, for what a write leaves and the parts of that. */
export function runValue(run: Run): Buffer | string {
  const { records, writeNumbers } = run
  const [first] = records
  if (!first) throw new TypeError('a run of no record')
  if (records.length === 1) return recordValue(first)
  const isOfOneWrite = writeNumbers.every(writeNumber => writeNumber === writeNumbers[0])
  return isOfOneWrite && records.length <= mostRecords ? textValue(run) : packedValue(run)
}

/**
 * @param key of the resource
 * @param choose among several records; one alone is in the range whose entries were read
 * @throws Error if it is a packed run that is damaged
 */
export function decodeRun(key: string, entry: Entry, choose = all): Run {
  const [name, bytes] = entry
  if (bytes[0] === textMark) return chosen(decodeText(key, entry), choose)
  if (bytes[0] === packedMark) return decodePacked(key, entry, choose)
  const { datetime, writeNumber, place } = positionInRecordKey(name)
  return {
    resource: resourceInRecordKey(name),
    records: [decodeRecord(key, datetime, bytes)],
    writeNumbers: [writeNumber],
    places: [place],
  }
}

/** The newest record of an entry. */
export function newestIn(key: string, entry: Entry): StoredRecord {
  const [name, bytes] = entry
  if (bytes[0] === textMark) return newestInText(key, entry)
  const newestOfRun = bytes[0] === packedMark ? decodePacked(key, entry, newest).records[0] : undefined
  return newestOfRun ?? decodeRecord(key, positionInRecordKey(name).datetime, bytes)
}

/** The key that the newest record of an entry would have alone. */
export function newestName(entry: Entry): Buffer {
  const [name, bytes] = entry
  if (bytes[0] === textMark) return newestNameInText(entry)
  if (bytes[0] !== packedMark) return name
  const names = namesInPacked(entry)
  return names.at(names.length - 1)
}

export function namedRecords(key: string, entry: Entry): NamedRecord[] {
  return named(decodeRun(key, entry))
}

/** How many records an entry has. */
export function countIn(bytes: Buffer): number {
  if (bytes[0] === textMark) return countInText(bytes)
  return bytes[0] === packedMark ? countInPacked(bytes) : 1
}

/** Whether the value is that of several records. */
export function isRun(bytes: Buffer): boolean {
  return bytes[0] === textMark || bytes[0] === packedMark
}
