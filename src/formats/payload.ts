import { isUtf8 } from 'node:buffer'
import type { Outcome, Reading, SentRecord } from './format.ts'

export interface Payload {
  /** Without white space around it. */
  readonly text: string
  /** The JSON value of the text; undefined if it is no JSON. */
  readonly json: unknown
  /** The JSON value, if it is an object. */
  readonly members: Readonly<Record<string, unknown>> | undefined
}

/** Decodes the payload of a message, and parses it if it is JSON; undefined if it is not UTF-8. */
export function decode(payload: Uint8Array): Payload | undefined {
  // The position of the mistake, which `readText` names, takes longer to find than JSON.parse takes.
  if (!isUtf8(payload)) return undefined
  // Trims a byte order mark, too.
  const text = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString().trim()
  const json = parsed(text)
  return { text, json, members: membersOf(json) }
}

/** A value as an object of members; undefined if it is none. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Record<string, unknown>) : undefined
}

/** A value as a text of 1 to `longest` characters; undefined if it is none. */
export function textOf(value: unknown, longest = 200): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= longest ? value : undefined
}

/** What `$meta` takes of the texts of a description (contract §5.3), characters. */
export const longestName = 100
export const longestUnit = 32
export const longestKind = 64

/** The begin of a name that is too long for a description. */
export function cutName(name: string): string {
  // Half of a surrogate pair is no character.
  return name.length <= longestName ? name : name.slice(0, longestName).replace(/[\uD800-\uDBFF]$/, '')
}

/** The records of a device. @param identifier undefined: the device is known by its name alone @param name the name in its topics */
export function readingOf(
  identifier: string | undefined,
  name: string,
  records: readonly SentRecord[],
): Reading {
  return identifier === undefined ? { device: name, records } : { device: identifier, alias: name, records }
}

export const nothing: Outcome = { readings: [] }

/** The outcome of a message of which nothing can be read. @param wanted as in `must be <wanted>` */
export function unreadable(payload: Payload | undefined, wanted: string): Outcome {
  return { readings: [], unread: [{ place: '', reason: mistake(payload, wanted) }] }
}

function mistake(payload: Payload | undefined, wanted: string): string {
  if (!payload) return 'must be UTF-8, but it is not'
  const { json, text } = payload
  if (text === '') return `must be ${wanted}, but it is empty`
  if (json === undefined) return `must be ${wanted}, but it is not JSON`
  if (json === null) return `must be ${wanted}, but it is null`
  const type = Array.isArray(json) ? 'array' : typeof json
  return `must be ${wanted}, but it is ${/^[ao]/.test(type) ? 'an' : 'a'} ${type}`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
