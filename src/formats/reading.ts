import { formatDatetime, parseDatetime } from '../core/record/datetime.ts'
import { maximumValueDepth } from '../core/record/value.ts'
import type { SentRecord } from './format.ts'

/** Rules that all formats share (contract §2.4): keys, readings, times. */

const longestKey = 128
/** How much is kept of the begin and the end of a path that is too long for a key; ten characters stand between them. */
const keptBegin = 79
const keptEnd = longestKey - keptBegin - 10
/** No device has longer names. Hashing megabytes takes several times as long as JSON.parse. */
const longestHashed = 1_024
const noReading = new Set(['', 'nan', 'null', 'none', 'unknown', 'unavailable'])
const longestNoReading = 11
const number = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const boolean = /^(?:true|false)$/i
const zone = /(?:[Zz]|[+-]\d\d:?\d\d)$/

/** Whether a value says that there is no reading: null, NaN, or a text such as `unavailable`. */
export function isNoReading(value: unknown): boolean {
  if (typeof value === 'string') {
    const bare = value.trim()
    return bare.length <= longestNoReading && noReading.has(bare.toLowerCase())
  }
  return value === undefined || value === null || (typeof value === 'number' && Number.isNaN(value))
}

/** The reading in a payload that is one bare text: a number (`+3`, `.5`), a boolean, or the text; undefined if there is none. */
export function bareReading(text: string): number | boolean | string | undefined {
  const bare = text.trim()
  if (isNoReading(bare)) return undefined
  if (number.test(bare)) return Number(bare)
  return boolean.test(bare) ? bare.length === 'true'.length : bare
}

/** A key of these names: each without the characters that no key has, joined by a dot. */
export function keyOf(...names: readonly string[]): string {
  let path = ''
  for (const name of names) if (name !== '') path = path === '' ? name : `${path}.${name}`
  return keyOfPath(path)
}

function keyOfPath(path: string): string {
  const key = shortened(path).replace(/[^A-Za-z0-9._-]/g, '_')
  return key === '' || key === '.' || key === '..' ? '_' : key
}

/** A path that fits into a key: a hash (FNV-1a) stands for the middle of a longer one, so that two readings do not get one key. */
function shortened(path: string): string {
  if (path.length <= longestKey) return path
  let hash = 0x811c9dc5
  const end = Math.min(path.length - keptEnd, longestHashed)
  for (let at = keptBegin; at < end; at++) hash = Math.imul(hash ^ path.charCodeAt(at), 0x01000193)
  const middle = (hash >>> 0).toString(16).padStart(8, '0')
  return `${path.slice(0, keptBegin)}_${middle}_${path.slice(-keptEnd)}`
}

/**
 * The readings in a JSON value: nested members get keys joined by a dot, arrays stay values, and what is no reading is left out.
 *
 * @param prefix the key of the value itself; empty for a top level
 * @param isWanted whether to read the member at this path, `ENERGY.Power`; called with the names as sent, except in paths that are too long for a key
 * @param most maximum number of readings
 */
export function flatten(
  value: unknown,
  prefix: string,
  isWanted: (path: string, name: string) => boolean = () => true,
  most = 10_001,
): { key: string; value: unknown }[] {
  const found: { key: string; value: unknown }[] = []
  const visit = (member: unknown, path: string, depth: number): void => {
    if (found.length >= most || isNoReading(member)) return
    if (typeof member !== 'object' || Array.isArray(member) || depth === maximumValueDepth) {
      found.push({ key: keyOfPath(path), value: member })
      return
    }
    // `Object.entries` takes twice as long as `for … in`, and longer than JSON.parse.
    for (const name in member) {
      // Each member would copy the whole of a long path.
      const below = shortened(path === '' ? name : `${path}.${name}`)
      if (isWanted(below, name)) visit((member as Record<string, unknown>)[name], below, depth + 1)
    }
  }
  visit(value, prefix, 0)
  return found
}

/** 1980-01-06: GPS time begins, and no device is older. A clock that shows less counts from 1970. */
export const firstGpsTime = Date.UTC(1980, 0, 6)

/** 2020-01-01: a clock that shows less was never set, and counts from the start of the device. */
export const firstCertainTime = Date.UTC(2020, 0, 1)

/** The datetime of a text in RFC 3339 with a zone; undefined for any other value: a time without a zone is a local one, and one before 1980 that of a clock that was never set. */
export function zonedTime(value: unknown): string | undefined {
  if (typeof value !== 'string' || !zone.test(value)) return undefined
  const at = parseDatetime(value.replace(/([+-]\d\d)(\d\d)$/, '$1:$2'))
  return at === undefined || at < firstGpsTime ? undefined : formatDatetime(at)
}

/**
 * The datetime of a Unix time.
 *
 * @param since milliseconds; an earlier time is that of a clock that was never set
 * @returns undefined if the value is no such time
 */
export function unixTime(
  value: unknown,
  unit: 'seconds' | 'milliseconds',
  since = firstCertainTime,
): string | undefined {
  if (typeof value !== 'number') return undefined
  const at = Math.round(unit === 'seconds' ? value * 1_000 : value)
  return at >= since && at <= latest ? formatDatetime(at) : undefined
}

const latest = Date.UTC(9999, 11, 31)

/** The records of readings that were all measured at the same time. */
export function recordsAt(
  readings: readonly { readonly key: string; readonly value: unknown }[],
  datetime: string | undefined,
): readonly SentRecord[] {
  return datetime === undefined ? readings : readings.map(reading => ({ ...reading, datetime }))
}
