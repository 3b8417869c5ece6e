import type { Geo } from '../core/record/geo.ts'
import type { Measured, StoredRecord } from '../core/record/record.ts'

/**
 * The stored form of a record, without its thing, key and datetime: a byte for the kind, then latitude and longitude
 * if there is a geo, then the value as JSON text. Degrees with at most seven decimals (about a centimetre, the precision of
 * receivers) are stored as whole numbers of ten-millionths of a degree, which take half the space of doubles.
 *
 * The two lowest bits of the first byte are the kind, which is the form of the geo; a store may use the other six bits.
 */

const withoutGeo = 0
const geoAsDoubles = 1
const geoAsIntegers = 2
const kinds = 4
const lengthOfHead = [1, 17, 9] as const

/** Number of stored units per degree, for a position that is stored as whole numbers. */
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

/** Like `encodeRecord`, but returns a string (UTF-8 when stored) for a record without a geo, since a string is cheaper to make. */
export function recordValue(record: StoredRecord): Buffer | string {
  return record.geo ? encodeRecord(record) : headWithoutGeo + record.value
}

/** @param datetime milliseconds @param valueStart byte offset of the value; default: directly after the kind and the geo */
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

/** Length in bytes of the kind and the geo together. */
export function headLength(bytes: Buffer): number {
  return lengthOfHead[(bytes[0] ?? 0) % kinds] ?? lengthOfHead[withoutGeo]
}

function kindOf(geo: Geo | undefined): 0 | 1 | 2 {
  if (!geo) return withoutGeo
  return isExact(geo.lat) && isExact(geo.long) ? geoAsIntegers : geoAsDoubles
}

/** Whether the degrees can be stored as a whole number of ten-millionths without a change. */
export function isExact(degrees: number): boolean {
  return Math.round(degrees * perDegree) / perDegree === degrees
}
