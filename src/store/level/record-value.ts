import type { Geo } from '../../core/geo.ts'
import type { StoredRecord } from '../../core/record.ts'

/**
 * The value of a record key: a byte that says what follows, then latitude and longitude if there is a position, then
 * the value as JSON text. Positions of at most seven decimals (a centimetre: what receivers give) are whole numbers
 * of ten-millionths of a degree, half as long as doubles.
 */

const withoutGeo = 0
const geoAsDoubles = 1
const geoAsIntegers = 2
const lengthOfHead = [1, 17, 9] as const

const perDegree = 1e7

export function encodeRecord({ value, geo }: StoredRecord): Buffer {
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

export function decodeRecord(key: string, datetime: number, bytes: Buffer): StoredRecord {
  switch (bytes[0]) {
    case geoAsIntegers: {
      const geo = { lat: bytes.readInt32LE(1) / perDegree, long: bytes.readInt32LE(5) / perDegree }
      return { key, datetime, value: bytes.toString('utf8', lengthOfHead[geoAsIntegers]), geo }
    }
    case geoAsDoubles: {
      const geo = { lat: bytes.readDoubleLE(1), long: bytes.readDoubleLE(9) }
      return { key, datetime, value: bytes.toString('utf8', lengthOfHead[geoAsDoubles]), geo }
    }
    default:
      return { key, datetime, value: bytes.toString('utf8', lengthOfHead[withoutGeo]) }
  }
}

function kindOf(geo: Geo | undefined): 0 | 1 | 2 {
  if (!geo) return withoutGeo
  return isExact(geo.lat) && isExact(geo.long) ? geoAsIntegers : geoAsDoubles
}

/** Whether the degrees come back to the last bit from a whole number of ten-millionths. */
function isExact(degrees: number): boolean {
  return Math.round(degrees * perDegree) / perDegree === degrees
}
