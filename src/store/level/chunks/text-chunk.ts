import type { StoredRecord } from '../../../core/record/record.ts'
import type { Entry } from '../database/scan.ts'
import { positionInRecordKey, recordKey, resourceInRecordKey } from '../keys.ts'
import type { Chunk } from './chunk.ts'

/**
 * A text chunk: several records of one write, as they are committed. Its value is a byte for the form, then the records, each
 * a head and the value as JSON text. JSON text has none of the control characters that separate them.
 */

/** First byte of a text chunk; no kind of record has it. */
export const textForm = 4
const start = String.fromCharCode(textForm)
const recordEnd = '\x01'
const recordEndByte = 1
const headEnd = '\x02'

export function textValue({ records, places }: Chunk): string {
  const first = records[0]?.datetime ?? 0
  let text = start
  for (let index = 0; index < records.length; index++) {
    const { datetime, value, geo } = records[index] as StoredRecord
    if (index > 0) text += recordEnd
    if (datetime !== first) text += datetime - first
    text += `,${places[index]}`
    if (geo) text += `,${geo.lat},${geo.long}`
    text += headEnd + value
  }
  return text
}

export function decodeText(key: string, [name, bytes]: Entry): Chunk {
  const { datetime, writeNumber } = positionInRecordKey(name)
  const records: StoredRecord[] = []
  const places: number[] = []
  const text = bytes.toString('utf8', 1)
  for (let at = 0; at <= text.length; ) {
    const found = text.indexOf(recordEnd, at)
    const end = found === -1 ? text.length : found
    const { record, place } = decodePart(key, datetime, text, at, end)
    records.push(record)
    places.push(place)
    at = end + recordEnd.length
  }
  const writeNumbers = records.map(() => writeNumber)
  return { resource: resourceInRecordKey(name), records, writeNumbers, places }
}

/** Decodes the newest record alone. */
export function newestInText(key: string, entry: Entry): StoredRecord {
  return lastPart(key, entry).record
}

/** The key that the newest record would have as an entry of its own. */
export function newestNameInText(entry: Entry): Buffer {
  const { record, place } = lastPart('', entry)
  const { writeNumber } = positionInRecordKey(entry[0])
  return recordKey(resourceInRecordKey(entry[0]), record.datetime, writeNumber, place)
}

function lastPart(key: string, [name, bytes]: Entry) {
  const { datetime } = positionInRecordKey(name)
  const start = bytes.lastIndexOf(recordEndByte) + 1
  const text = bytes.toString('utf8', start)
  return decodePart(key, datetime, text, 0, text.length)
}

export function countInText(bytes: Buffer): number {
  let count = 1
  for (let at = bytes.indexOf(recordEndByte); at !== -1; at = bytes.indexOf(recordEndByte, at + 1)) count++
  return count
}

/** Decodes the record from `start` to `end` (exclusive) of the text. @param first datetime of the chunk's first record */
function decodePart(
  key: string,
  first: number,
  text: string,
  start: number,
  end: number,
): { record: StoredRecord; place: number } {
  const head = text.indexOf(headEnd, start)
  const afterOffset = text.indexOf(',', start)
  const afterPlace = text.lastIndexOf(',', head)
  const datetime = first + Number(text.slice(start, afterOffset))
  const value = text.slice(head + headEnd.length, end)
  if (afterPlace === afterOffset)
    return { record: { key, datetime, value }, place: Number(text.slice(afterOffset + 1, head)) }
  const [place, lat, long] = text
    .slice(afterOffset + 1, head)
    .split(',')
    .map(Number) as [number, number, number]
  return { record: { key, datetime, value, geo: { lat, long } }, place }
}
