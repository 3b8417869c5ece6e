import type { StoredRecord } from '../../../core/record/record.ts'
import { decodeRecord, recordValue } from '../../record-value.ts'
import type { Entry } from '../database/scan.ts'
import { positionInRecordKey, resourceInRecordKey } from '../keys.ts'
import { all, type Chunk, chosen, type NamedRecord, named, newest } from './chunk.ts'
import { countInPacked, decodePacked, namesInPacked, packedForm, packedValue } from './packed-chunk.ts'
import { countInText, decodeText, newestInText, newestNameInText, textForm, textValue } from './text-chunk.ts'

/**
 * The forms of a chunk in the database, distinguished by the first byte of the value: of one record, that of the record
 * (../record-value.ts); of several of one write, text (text-chunk.ts); of many writes, packed (packed-chunk.ts).
 */

/** Of one that is text: what has to be written anew when a late record parts it, and read for its last. */
const mostRecords = 128
const mostText = 4_096

/** A chunk while its write is put together. */
export class ChunkDraft implements Chunk {
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
export function chunkValue(chunk: Chunk): Buffer | string {
  const { records, writeNumbers } = chunk
  const [first] = records
  if (!first) throw new TypeError('a chunk of no record')
  if (records.length === 1) return recordValue(first)
  const isOfOneWrite = writeNumbers.every(writeNumber => writeNumber === writeNumbers[0])
  return isOfOneWrite && records.length <= mostRecords ? textValue(chunk) : packedValue(chunk)
}

/**
 * @param key of the resource
 * @param choose among several records; one alone is in the range whose entries were read
 * @throws Error if it is a packed chunk that is damaged
 */
export function decodeChunk(key: string, entry: Entry, choose = all): Chunk {
  const [name, bytes] = entry
  if (bytes[0] === textForm) return chosen(decodeText(key, entry), choose)
  if (bytes[0] === packedForm) return decodePacked(key, entry, choose)
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
  if (bytes[0] === textForm) return newestInText(key, entry)
  const newestOfChunk = bytes[0] === packedForm ? decodePacked(key, entry, newest).records[0] : undefined
  return newestOfChunk ?? decodeRecord(key, positionInRecordKey(name).datetime, bytes)
}

/** The key that the newest record of an entry would have alone. */
export function newestName(entry: Entry): Buffer {
  const [name, bytes] = entry
  if (bytes[0] === textForm) return newestNameInText(entry)
  if (bytes[0] !== packedForm) return name
  const names = namesInPacked(entry)
  return names.at(names.length - 1)
}

export function namedRecords(key: string, entry: Entry): NamedRecord[] {
  return named(decodeChunk(key, entry))
}

/** How many records an entry has. */
export function countIn(bytes: Buffer): number {
  if (bytes[0] === textForm) return countInText(bytes)
  return bytes[0] === packedForm ? countInPacked(bytes) : 1
}

/** Whether the value is that of several records. */
export function isChunk(bytes: Buffer): boolean {
  return bytes[0] === textForm || bytes[0] === packedForm
}
