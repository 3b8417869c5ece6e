import type { Geo } from '../core/record/geo.ts'
import type { Measured, StoredRecord } from '../core/record/record.ts'

/**
 * The stored form of a record, besides thing, key and datetime: a byte for the kind, then latitude and longitude
 * if there is a geo, then the value as JSON text. Degrees of at most seven decimals (a centimetre: what receivers
 * give) are whole numbers of ten-millionths of a degree, half as long as doubles.
 *
 * The two lowest bits of the first byte are the kind, the form of the geo; a store may use the others.
 */

const withoutGeo = 0
const geoAsDoubles = 1
const geoAsIntegers = 2
const kinds = 4
const lengthOfHead = [1, 17, 9] as const

/** Units per degree of a position that is stored as whole numbers. */
export const perDegree = 1e7

export function encodeRecord({ value, geo }: Measured): Buffer {
  const kind = kindOf(geo)
  const start = lengthOfHead[kind]
  const bytes = Buffer.allocUnsafe(start + Buffer.byteLength(value))
  bytes[0] = kind
  if (geo && kind === geoAsIntegers) {
    bytes.writeInt32LE(Math.round(geo.lat * perDegree), 1)
    bytes.writeInt32LE(Math.round(geo.long * perDegree), 5)
  } else if (geo) {
    bytes.writeDoubleLE(geo.lat, 1)
    bytes.writeDoubleLE(geo.long, 9)
  }
  bytes.write(value, start)
  return bytes
}

const headWithoutGeo = '\0'

/** The same as `encodeRecord`; a string stands for its bytes in UTF-8, and is cheaper to make. */
export function recordValue(record: StoredRecord): Buffer | string {
  return record.geo ? encodeRecord(record) : headWithoutGeo + record.value
}

/** @param datetime milliseconds @param valueStart offset of the value, if it does not follow the head directly */
export function decodeRecord(
  key: string,
  datetime: number,
  bytes: Buffer,
  valueStart = headLength(bytes),
): StoredRecord {
  const value = bytes.toString('utf8', valueStart)
  switch ((bytes[0] ?? 0) % kinds) {
    case geoAsIntegers: {
      const geo = { lat: bytes.readInt32LE(1) / perDegree, long: bytes.readInt32LE(5) / perDegree }
      return { key, datetime, value, geo }
    }
    case geoAsDoubles:
      return { key, datetime, value, geo: { lat: bytes.readDoubleLE(1), long: bytes.readDoubleLE(9) } }
    default:
      return { key, datetime, value }
  }
}

/** Length of the kind and the geo in bytes. */
export function headLength(bytes: Buffer): number {
  return lengthOfHead[(bytes[0] ?? 0) % kinds] ?? lengthOfHead[withoutGeo]
}

function kindOf(geo: Geo | undefined): 0 | 1 | 2 {
  if (!geo) return withoutGeo
  return isExact(geo.lat) && isExact(geo.long) ? geoAsIntegers : geoAsDoubles
}

/** Whether a whole number of ten-millionths gives the same double again. */
export function isExact(degrees: number): boolean {
  return Math.round(degrees * perDegree) / perDegree === degrees
}
