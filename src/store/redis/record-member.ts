import { hash } from 'node:crypto'
import { type Measured, measurement, type StoredRecord } from '../../core/record/record.ts'
import { decodeRecord, encodeRecord, headLength } from '../record-value.ts'
import { digestOf } from '../resend.ts'

/**
 * The form of a record in Redis. It is a member of its resource's sorted set, with the datetime as its score:
 *
 * ```
 * ┌──────────────┬───────┬──────┬──────────┬────────┬──────────────────┐
 * │ write number │ place │ kind │ geo      │ digest │ value, JSON text │
 * │  7           │  2    │  1   │ 0, 8, 16 │ 0 or 8 │ UTF-8, the rest  │
 * └──────────────┴───────┴──────┴──────────┴────────┴──────────────────┘
 * ```
 *
 * The numbers are lengths in bytes. Write numbers and places are big-endian, so that members of one score are in record order.
 * The payload, from the kind on, is as in record-value.ts plus the digest. A state is write number (7), datetime (6) and payload.
 *
 * Two records of one datetime are the same measurement (contract §4, resend (a)) if their payloads have the same `identityOf`: for
 * an object or array, the kind and the digest, which does not depend on the order of an object's members; for other values, the
 * whole payload or its hash.
 */

/** Added to the kind if the value is an object or an array. A digest then precedes the value. */
const structured = 4
const lengthOfDigest = 8

/** Bytes before the payload in a member. */
const memberHead = 9
/** Bytes before the payload in a state. */
const stateHead = 13

export function encodePayload(record: Measured): Buffer {
  const bytes = encodeRecord(record)
  if (!/^[[{]/.test(record.value)) return bytes
  const start = headLength(bytes)
  const digest = digestOf(measurement(record)).subarray(0, lengthOfDigest)
  const payload = Buffer.concat([bytes.subarray(0, start), digest, bytes.subarray(start)])
  payload.writeUInt8(payload.readUInt8(0) + structured, 0)
  return payload
}

function decodePayload(key: string, datetime: number, payload: Buffer): StoredRecord {
  const digest = isStructured(payload) ? lengthOfDigest : 0
  return decodeRecord(key, datetime, payload, headLength(payload) + digest)
}

/** Encodes a member in the same form as commit.lua. */
export function encodeMember(writeNumber: number, place: number, payload: Buffer): Buffer {
  return Buffer.concat([numberBytes(writeNumber), encodePlace(place), payload])
}

/** Two bytes, big-endian. @param place place of a record in its write */
export function encodePlace(place: number): Buffer {
  const bytes = Buffer.allocUnsafe(2)
  bytes.writeUInt16BE(place)
  return bytes
}

/** The identity of a payload, as `identity` in lib.lua computes it. */
export function identityOf(payload: Buffer): Buffer {
  if (isStructured(payload)) {
    const start = headLength(payload)
    return Buffer.concat([payload.subarray(0, 1), payload.subarray(start, start + lengthOfDigest)])
  }
  return payload.length <= 24 ? payload : Buffer.from(hash('sha1', payload))
}

/** @param datetime the member's score */
export function decodeMember(key: string, datetime: number, member: Buffer): StoredRecord {
  return decodePayload(key, datetime, member.subarray(memberHead))
}

/** Datetime and payload of a state. The script that puts the state prepends the write number. */
export function encodeState(record: StoredRecord): Buffer {
  const datetime = Buffer.allocUnsafe(6)
  datetime.writeUIntBE(record.datetime, 0, 6)
  return Buffer.concat([datetime, encodePayload(record)])
}

/** Encodes a state in the same form as commit.lua. @param writeNumber number of the write that put the state */
export function encodeNumberedState(writeNumber: number, record: StoredRecord): Buffer {
  return Buffer.concat([numberBytes(writeNumber), encodeState(record)])
}

export function decodeState(key: string, state: Buffer): StoredRecord {
  return decodePayload(key, state.readUIntBE(7, 6), state.subarray(stateHead))
}

/** Reads seven bytes, big-endian, in two steps, since Node.js reads at most six bytes at once. */
export function writeNumberInState(state: Buffer): number {
  return state.readUIntBE(0, 3) * 2 ** 32 + state.readUInt32BE(3)
}

function numberBytes(writeNumber: number): Buffer {
  const bytes = Buffer.allocUnsafe(7)
  bytes.writeUIntBE(Math.floor(writeNumber / 2 ** 32), 0, 3)
  bytes.writeUInt32BE(writeNumber % 2 ** 32, 3)
  return bytes
}

function isStructured(payload: Buffer): boolean {
  return (payload[0] ?? 0) >= structured
}
