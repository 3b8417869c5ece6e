import type { StoredRecord } from '../../../core/record/record.ts'
import type { Entry } from '../database/scan.ts'
import { positionInRecordKey, recordKey, resourceInRecordKey } from '../keys.ts'
import type { Chunk } from './chunk.ts'

/**
 * A text chunk has several records of one write, and may later be packed. Its bytes are `textForm`, then for each record a head and
 * the value as JSON text. The separators are control characters, which JSON text never contains.
 */

/** First byte of a text chunk. The bytes of a single record never begin with this byte. */
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

/** Decodes only the newest record. */
export function newestInText(key: string, entry: Entry): StoredRecord {
  return lastPart(key, entry).record
}

/** The name (`NamedRecord`) of the newest record in a text chunk. */
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

/** Decodes the record in the text from `start` to `end` (exclusive). @param first datetime of the first record, milliseconds */
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
