import { createHash } from 'node:crypto'
import type { Geo } from '../../core/geo.ts'
import { measurement, type StoredRecord } from '../../core/record.ts'

/**
 * A record as Redis keeps it. As a member of its resource's sorted set, whose score is the datetime:
 *
 * ```
 * ┌──────────────┬───────┬──────┬──────────┬────────┬──────────────────┐
 * │ write number │ place │ kind │ position │ digest │ value, JSON text │
 * │  7           │  2    │  1   │ 0, 8, 16 │ 0 or 8 │ UTF-8, the rest  │
 * └──────────────┴───────┴──────┴──────────┴────────┴──────────────────┘
 * ```
 *
 * Write number and place are big-endian, so that members of one score are in the order in which records are read. The
 * payload, from the kind on, is also what a state holds behind its own head: write number (7) and datetime (6).
 *
 * The identity of a payload says whether two records of one datetime are the same measurement (contract §4, resend
 * (a)): its digest where the value is an object or array, whose members may come in another order; else all of it.
 */

const withoutGeo = 0
const geoAsDoubles = 1
const geoAsIntegers = 2
/** Added to the kind where the value is an object or an array, and its digest stands before it. */
const structured = 4
const lengthOfGeo = [0, 16, 8] as const
const lengthOfDigest = 8

/** Bytes before the payload in a member. */
export const memberHead = 9
/** Bytes before the payload in a state. */
export const stateHead = 13

const perDegree = 1e7

export function encodePayload(record: StoredRecord): Buffer {
  const { value, geo } = record
  const form = formOf(geo)
  const isStructured = /^[[{]/.test(value)
  const start = 1 + lengthOfGeo[form] + (isStructured ? lengthOfDigest : 0)
  const bytes = Buffer.allocUnsafe(start + Buffer.byteLength(value))
  bytes[0] = form + (isStructured ? structured : 0)
  if (geo && form === geoAsIntegers) {
    bytes.writeInt32LE(Math.round(geo.lat * perDegree), 1)
    bytes.writeInt32LE(Math.round(geo.long * perDegree), 5)
  } else if (geo) {
    bytes.writeDoubleLE(geo.lat, 1)
    bytes.writeDoubleLE(geo.long, 9)
  }
  if (isStructured) {
    const digest = createHash('sha256').update(measurement(record)).digest()
    digest.copy(bytes, start - lengthOfDigest, 0, lengthOfDigest)
  }
  bytes.write(value, start)
  return bytes
}

export function decodePayload(key: string, datetime: number, payload: Buffer): StoredRecord {
  const kind = payload[0] ?? 0
  const form = kind % structured
  const start = 1 + (lengthOfGeo[form] ?? 0) + (kind >= structured ? lengthOfDigest : 0)
  const value = payload.toString('utf8', start)
  if (form === geoAsIntegers) {
    const geo = { lat: payload.readInt32LE(1) / perDegree, long: payload.readInt32LE(5) / perDegree }
    return { key, datetime, value, geo }
  }
  if (form === geoAsDoubles) {
    return { key, datetime, value, geo: { lat: payload.readDoubleLE(1), long: payload.readDoubleLE(9) } }
  }
  return { key, datetime, value }
}

/** As commit.lua puts it together. */
export function encodeMember(writeNumber: number, place: number, payload: Buffer): Buffer {
  const placeBytes = Buffer.allocUnsafe(2)
  placeBytes.writeUInt16BE(place)
  return Buffer.concat([numberBytes(writeNumber), placeBytes, payload])
}

/** What makes two payloads one measurement, as lib.lua has it. */
export function identityOf(payload: Buffer): Buffer {
  const kind = payload[0] ?? 0
  if (kind >= structured) {
    const start = 1 + (lengthOfGeo[kind % structured] ?? 0)
    return Buffer.concat([payload.subarray(0, 1), payload.subarray(start, start + lengthOfDigest)])
  }
  return payload.length <= 24 ? payload : Buffer.from(createHash('sha1').update(payload).digest('hex'))
}

/** Where a member stands among those of its datetime. */
export function positionInMember(member: Buffer): { writeNumber: number; place: number } {
  return { writeNumber: readNumber(member, 0), place: member.readUInt16BE(7) }
}

/** @param datetime the member's score */
export function decodeMember(key: string, datetime: number, member: Buffer): StoredRecord {
  return decodePayload(key, datetime, member.subarray(memberHead))
}

/** Datetime and payload of a state; the script that puts it prepends the write number. */
export function encodeState(record: StoredRecord): Buffer {
  const datetime = Buffer.allocUnsafe(6)
  datetime.writeUIntBE(record.datetime, 0, 6)
  return Buffer.concat([datetime, encodePayload(record)])
}

/** As commit.lua puts it together. @param writeNumber of the write that put it */
export function encodeNumberedState(writeNumber: number, record: StoredRecord): Buffer {
  return Buffer.concat([numberBytes(writeNumber), encodeState(record)])
}

export function decodeState(key: string, state: Buffer): StoredRecord {
  return decodePayload(key, state.readUIntBE(7, 6), state.subarray(stateHead))
}

export function writeNumberInState(state: Buffer): number {
  return readNumber(state, 0)
}

function numberBytes(writeNumber: number): Buffer {
  const bytes = Buffer.allocUnsafe(7)
  bytes.writeUIntBE(Math.floor(writeNumber / 2 ** 32), 0, 3)
  bytes.writeUInt32BE(writeNumber % 2 ** 32, 3)
  return bytes
}

/** Seven bytes, big-endian: more than Node reads at once. */
function readNumber(bytes: Buffer, offset: number): number {
  return bytes.readUIntBE(offset, 3) * 2 ** 32 + bytes.readUInt32BE(offset + 3)
}

function formOf(geo: Geo | undefined): 0 | 1 | 2 {
  if (!geo) return withoutGeo
  return isExact(geo.lat) && isExact(geo.long) ? geoAsIntegers : geoAsDoubles
}

/** Whether the degrees come back to the last bit from a whole number of ten-millionths. */
function isExact(degrees: number): boolean {
  return Math.round(degrees * perDegree) / perDegree === degrees
}
