import { crc32 } from 'node:zlib'
import type { Geo } from '../../../core/record/geo.ts'
import type { StoredRecord } from '../../../core/record/record.ts'
import { isExact, perDegree } from '../../record-value.ts'
import type { Entry } from '../database/scan.ts'
import { positionInRecordKey, recordKey, resourceInRecordKey } from '../keys.ts'
import type { Choose, Chunk, Names } from './chunk.ts'
import { ColumnReader, ColumnWriter } from './columns.ts'

/**
 * A packed chunk stores records of any number of writes by column. Successive numbers of a column are similar, so their differences
 * take few bytes (see the diagram in docs/reference/storage.md). If every value is a number in the form that `String` returns, the
 * values are stored as numbers, otherwise as text.
 */

/** First byte of a packed chunk. No text chunk and no single record begins with this byte. */
export const packedForm = 5

/** The columns that an aggregation needs. They are read without creating an object for each record. */
export interface PackedColumns {
  /** Milliseconds. */
  readonly datetimes: Float64Array
  /** The values as numbers, if each number converts back to the stored text, otherwise as JSON texts. */
  readonly values: Float64Array | readonly string[]
}

const valueForms = { text: 0, doubles: 1, scaled: 2 } as const
const positionForms = { none: 0, doubles: 1, integers: 2 } as const

const headLength = 3
const sumLength = 4
const textEnd = '\x01'

/** Indexed by number of decimals. With more than 15 decimals, a double has no digits left for its integer part. */
const powersOfTen = Array.from({ length: 16 }, (_, exponent) => Number(`1e${exponent}`))
/** Largest scaled number. The zigzag encoding doubles the difference of two numbers, and the result must be a safe integer. */
const largestScaled = 2 ** 51 - 1

export function packedValue(chunk: Chunk): Buffer {
  const { records } = chunk
  const numbers = numbersOf(records)
  const decimals = numbers && decimalsOf(records, numbers)
  const positionForm = positionFormOf(records)
  const valueForm = !numbers ? 'text' : decimals === undefined ? 'doubles' : 'scaled'
  const writer = new ColumnWriter()
  writer.bytes(packedForm, valueForms[valueForm], positionForms[positionForm])
  writer.natural(records.length)
  writeTimes(writer, records)
  writer.steps(chunk.writeNumbers)
  writer.steps(chunk.places)
  if (positionForm !== 'none') writePositions(writer, records, positionForm)
  if (!numbers) writer.text(records.map(({ value }) => value).join(textEnd))
  else if (decimals === undefined) writer.doubles(numbers)
  else {
    const power = powersOfTen[decimals] ?? 1
    writer.bytes(decimals)
    writer.integers(numbers.map(number => Math.round(number * power)))
  }
  return writer.end(crc32)
}

/** Creates only the chosen records. @throws Error if the chunk is damaged */
export function decodePacked(key: string, entry: Entry, choose: Choose): Chunk {
  const { reader, count, forms, datetimes, writeNumbers, places, names } = openNamed(entry)
  const { start, end } = choose(names)
  const positionAt = readPositions(reader, count, forms.position)
  const values = readValues(reader, count, forms.value)
  const records: StoredRecord[] = []
  for (let index = start; index < end; index++) {
    const datetime = datetimes[index] as number
    const value = String(values[index])
    const geo = positionAt?.(index)
    records.push(geo ? { key, datetime, value, geo } : { key, datetime, value })
  }
  return {
    resource: resourceInRecordKey(entry[0]),
    records,
    writeNumbers: Array.from(writeNumbers.subarray(start, end)),
    places: Array.from(places.subarray(start, end)),
  }
}

/** @throws Error if the chunk is damaged */
export function namesInPacked(entry: Entry): Names {
  return openNamed(entry).names
}

/** @throws Error if the chunk is damaged */
export function packedColumns(entry: Entry): PackedColumns {
  const { reader, count, first, forms } = open(entry)
  const datetimes = readTimes(reader, count, first.datetime)
  const writeNumbersAndPlaces = 2 * (count - 1)
  reader.pass(writeNumbersAndPlaces)
  readPositions(reader, count, forms.position)
  return { datetimes, values: readValues(reader, count, forms.value) }
}

/** Opens a chunk and reads the columns from which the keys of the records are made. @throws Error if the chunk is damaged */
function openNamed(entry: Entry) {
  const opened = open(entry)
  const { reader, count, first } = opened
  const resource = resourceInRecordKey(entry[0])
  const datetimes = readTimes(reader, count, first.datetime)
  const writeNumbers = reader.steps(count, first.writeNumber)
  const places = reader.steps(count, first.place)
  const at = (index: number) =>
    recordKey(resource, datetimes[index] ?? 0, writeNumbers[index] ?? 0, places[index] ?? 0)
  return { ...opened, datetimes, writeNumbers, places, names: { length: count, at } satisfies Names }
}

/** @throws Error if the checksum or the head is wrong */
function open([name, bytes]: Entry) {
  const end = bytes.length - sumLength
  if (end < headLength || crc32(bytes.subarray(0, end)) !== bytes.readUInt32LE(end)) throw damaged()
  const reader = new ColumnReader(bytes, headLength, end)
  const count = reader.natural()
  // Each record takes at least one byte.
  if (count < 1 || count > end) throw damaged()
  return { reader, count, first: positionInRecordKey(name), forms: { value: bytes[1], position: bytes[2] } }
}

/** The record count of a packed chunk. Does not verify the checksum. */
export function countInPacked(bytes: Buffer): number {
  return new ColumnReader(bytes, headLength, bytes.length).natural()
}

function damaged(): Error {
  return new Error('a packed chunk of records is damaged')
}

/** Writes the differences of consecutive time steps, which are small since most devices measure at equal intervals. */
function writeTimes(writer: ColumnWriter, records: readonly StoredRecord[]): void {
  let before = records[0]?.datetime ?? 0
  let stepBefore = 0
  for (let index = 1; index < records.length; index++) {
    const datetime = records[index]?.datetime ?? 0
    const step = datetime - before
    writer.integer(step - stepBefore)
    before = datetime
    stepBefore = step
  }
}

function readTimes(reader: ColumnReader, count: number, first: number): Float64Array {
  const datetimes = new Float64Array(count)
  datetimes[0] = first
  reader.fill(datetimes, 1)
  let step = 0
  for (let index = 1; index < count; index++) {
    step += datetimes[index] as number
    datetimes[index] = (datetimes[index - 1] as number) + step
  }
  return datetimes
}

/** @returns the values as numbers; undefined if a number would not convert back to the same text */
function numbersOf(records: readonly StoredRecord[]): Float64Array | undefined {
  const numbers = new Float64Array(records.length)
  for (let index = 0; index < records.length; index++) {
    const text = records[index]?.value ?? ''
    const number = Number(text)
    if (String(number) !== text) return undefined
    numbers[index] = number
  }
  return numbers
}

/** @returns the number of decimals with which all numbers scale to integers and back without loss; undefined if there is none */
function decimalsOf(records: readonly StoredRecord[], numbers: Float64Array): number | undefined {
  let decimals = 0
  for (const { value } of records) {
    if (value.includes('e')) return undefined
    const point = value.indexOf('.')
    if (point !== -1) decimals = Math.max(decimals, value.length - point - 1)
  }
  const power = powersOfTen[decimals]
  if (power === undefined) return undefined
  const isScaled = numbers.every(number => {
    const scaled = Math.round(number * power)
    return Math.abs(scaled) <= largestScaled && scaled / power === number
  })
  return isScaled ? decimals : undefined
}

function readValues(
  reader: ColumnReader,
  count: number,
  form: number | undefined,
): Float64Array | readonly string[] {
  if (form === valueForms.text) {
    const texts = reader.text().split(textEnd)
    if (texts.length !== count) throw damaged()
    return texts
  }
  if (form === valueForms.doubles) return reader.doubles(count)
  const power = form === valueForms.scaled ? powersOfTen[reader.byte()] : undefined
  if (power === undefined) throw damaged()
  const numbers = reader.integers(count)
  for (let index = 0; index < count; index++) numbers[index] = (numbers[index] as number) / power
  return numbers
}

function positionFormOf(records: readonly StoredRecord[]): keyof typeof positionForms {
  const positions = records.flatMap(({ geo }) => geo ?? [])
  if (positions.length === 0) return 'none'
  return positions.every(({ lat, long }) => isExact(lat) && isExact(long)) ? 'integers' : 'doubles'
}

/** Writes a bitmap of which records have a position, then the latitudes, then the longitudes. */
function writePositions(
  writer: ColumnWriter,
  records: readonly StoredRecord[],
  form: 'integers' | 'doubles',
): void {
  const bits = new Uint8Array(Math.ceil(records.length / 8))
  for (const [index, { geo }] of records.entries()) {
    if (geo) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7))
  }
  writer.bytes(...bits)
  const positions = records.flatMap(({ geo }) => geo ?? [])
  for (const axis of ['lat', 'long'] as const) {
    const degrees = Float64Array.from(positions, position => position[axis])
    if (form === 'doubles') writer.doubles(degrees)
    else writer.integers(degrees.map(degree => Math.round(degree * perDegree)))
  }
}

/** @returns a function that gives the position of a record by its index; undefined if no record has a position */
function readPositions(
  reader: ColumnReader,
  count: number,
  form: number | undefined,
): ((index: number) => Geo | undefined) | undefined {
  if (form === positionForms.none) return undefined
  if (form !== positionForms.integers && form !== positionForms.doubles) throw damaged()
  const bits = Array.from({ length: Math.ceil(count / 8) }, () => reader.byte())
  const isThere = (index: number) => (((bits[index >> 3] ?? 0) >> (index & 7)) & 1) === 1
  const ranks = new Uint32Array(count)
  let positioned = 0
  for (let index = 0; index < count; index++) {
    ranks[index] = positioned
    if (isThere(index)) positioned++
  }
  const degrees = () =>
    form === positionForms.doubles
      ? reader.doubles(positioned)
      : reader.integers(positioned).map(whole => whole / perDegree)
  const [lats, longs] = [degrees(), degrees()]
  return index => {
    const rank = ranks[index] ?? 0
    return isThere(index) ? { lat: lats[rank] ?? 0, long: longs[rank] ?? 0 } : undefined
  }
}
