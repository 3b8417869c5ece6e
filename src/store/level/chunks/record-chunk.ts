import type { StoredRecord } from '../../../core/record/record.ts'
import { decodeRecord, recordValue } from '../../record-value.ts'
import type { Entry } from '../database/scan.ts'
import { positionInRecordKey, resourceInRecordKey } from '../keys.ts'
import { all, type Chunk, chosen, type NamedRecord, named, newest } from './chunk.ts'
import { countInPacked, decodePacked, namesInPacked, packedForm, packedValue } from './packed-chunk.ts'
import { countInText, decodeText, newestInText, newestNameInText, textForm, textValue } from './text-chunk.ts'

/**
 * A chunk has one of three forms in the database: a single record (../../record-value.ts), a text chunk for several records of one
 * write (text-chunk.ts), or a packed chunk for records of any writes (packed-chunk.ts). Its first byte shows the form.
 */

/** Limits of a text chunk in records and characters, since inserting a late record or reading the newest reads the whole chunk. */
const mostRecords = 128
const mostText = 4_096

/** A text chunk while its write is staged. */
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

  /** Appends a record unless the chunk would become too long. @returns whether the record was added */
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

/** The value of a chunk's entry. Several records of one write become text, which is cheapest to make; several writes are packed. */
export function chunkValue(chunk: Chunk): Buffer | string {
  const { records, writeNumbers } = chunk
  const [first] = records
  if (!first) throw new TypeError('a chunk of no record')
  if (records.length === 1) return recordValue(first)
  const isOfOneWrite = writeNumbers.every(writeNumber => writeNumber === writeNumbers[0])
  return isOfOneWrite && records.length <= mostRecords ? textValue(chunk) : packedValue(chunk)
}

/** @param choose picks records if the chunk has several; otherwise it is not called @throws Error if the chunk is damaged */
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

export function newestIn(key: string, entry: Entry): StoredRecord {
  const [name, bytes] = entry
  if (bytes[0] === textForm) return newestInText(key, entry)
  const newestOfChunk = bytes[0] === packedForm ? decodePacked(key, entry, newest).records[0] : undefined
  return newestOfChunk ?? decodeRecord(key, positionInRecordKey(name).datetime, bytes)
}

/** The name (`NamedRecord`) of the newest record in an entry. */
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

/** The number of records in the value of an entry. */
export function countIn(bytes: Buffer): number {
  if (bytes[0] === textForm) return countInText(bytes)
  return bytes[0] === packedForm ? countInPacked(bytes) : 1
}

/** Whether the value has one of the two forms for several records. */
export function isChunk(bytes: Buffer): boolean {
  return bytes[0] === textForm || bytes[0] === packedForm
}
