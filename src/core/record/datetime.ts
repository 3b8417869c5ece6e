/**
 * Datetimes on the wire (contract §2): four input formats, one output format. Within the service, a datetime is a whole number of
 * milliseconds since 1970-01-01T00:00:00Z.
 */

const compact = /^\d{8}T?\d{6}$/
const compactMilliseconds = /^\d{17}$/
const rfc3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d)?$/

const zero = '0'.charCodeAt(0)

/** The formats of a datetime. A text that matches may still not be a real time. */
export const datetimeForms: readonly RegExp[] = [compact, compactMilliseconds, rfc3339]

/** The last millisecond of the year 9999; later times cannot be formatted. */
export const latestDatetime = 253_402_300_799_999

/** How far ahead of the server's clock a datetime may be, milliseconds. */
export const futureTolerance = 24 * 60 * 60 * 1000

/**
 * Parses `YYYYMMDDHHmmss`, `YYYYMMDDTHHmmss`, `YYYYMMDDHHmmssSSS`, or RFC 3339 with optional seconds, fraction and zone. Without a
 * zone, the time is in UTC. Digits after the milliseconds are cut off.
 *
 * @returns milliseconds since the epoch (negative before 1970); undefined if the format is unknown or the time does not exist, such
 * as month 13, February 30, 24:00 or second 60
 */
export function parseDatetime(text: string): number | undefined {
  if (rfc3339.test(text)) return ofRfc3339(text)
  if (compactMilliseconds.test(text)) return ofCompact(text, 8, digits(text, 14, 3))
  return compact.test(text) ? ofCompact(text, text[8] === 'T' ? 9 : 8, 0) : undefined
}

function ofRfc3339(text: string): number | undefined {
  const seconds = text[16] === ':' ? digits(text, 17, 2) : 0
  const milliseconds = text[19] === '.' ? fraction(text, 20) : 0
  const midnight = midnightOf(digits(text, 0, 4), digits(text, 5, 2), digits(text, 8, 2))
  const local = timeOf(midnight, digits(text, 11, 2), digits(text, 14, 2), seconds, milliseconds)
  const zone = text.length - 6
  const sign = text[zone]
  if (local === undefined || (sign !== '+' && sign !== '-')) return local
  const hours = digits(text, zone + 1, 2)
  const minutes = digits(text, zone + 4, 2)
  if (hours > 23 || minutes > 59) return undefined
  return local - (sign === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

/** @param time index of the first digit of the hours; minutes and seconds follow */
function ofCompact(text: string, time: number, milliseconds: number): number | undefined {
  const midnight = midnightOf(digits(text, 0, 4), digits(text, 4, 2), digits(text, 6, 2))
  const hours = digits(text, time, 2)
  return timeOf(midnight, hours, digits(text, time + 2, 2), digits(text, time + 4, 2), milliseconds)
}

/** Parses digits. Calling `Number` on a slice takes five times as long. */
function digits(text: string, start: number, count: number): number {
  let number = 0
  for (let at = start; at < start + count; at++) number = number * 10 + text.charCodeAt(at) - zero
  return number
}

/** The milliseconds of a fraction of a second, which may have any number of digits. */
function fraction(text: string, start: number): number {
  let milliseconds = 0
  let unit = 100
  for (let at = start; unit >= 1 && isDigit(text.charCodeAt(at)); at++) {
    milliseconds += (text.charCodeAt(at) - zero) * unit
    unit /= 10
  }
  return milliseconds
}

function isDigit(code: number): boolean {
  return code >= zero && code <= zero + 9
}

const dayLength = 24 * 60 * 60 * 1000

const twoDigits = numerals(60, 2)
/** Includes the character after the seconds, since each part of a concatenation costs time. */
const secondsText = twoDigits.map(digits => `${digits}.`)
const millisecondsText = numerals(1000, 3).map(digits => `${digits}Z`)

/** Texts of the whole numbers from 0, padded with zeros. */
function numerals(count: number, length: number): readonly string[] {
  return Array.from({ length: count }, (_, number) => String(number).padStart(length, '0'))
}

/** A cache: most datetimes are in the same minute or day as the previous one. Making a `Date` each time takes 7 times as long. */
let minute = { start: Number.NaN, text: '' }
let day = { start: Number.NaN, text: '' }

/** The output format: `2015-10-28T12:18:56.799Z`. */
export function formatDatetime(milliseconds: number): string {
  if (!(milliseconds >= minute.start && milliseconds < minute.start + 60_000)) {
    minute = minuteOf(milliseconds)
  }
  const rest = milliseconds - minute.start
  const seconds = Math.floor(rest / 1000)
  return `${minute.text}${secondsText[seconds]}${millisecondsText[rest - seconds * 1000]}`
}

/** The minute that contains a time: its start, and its text, such as `2015-10-28T12:18:`. */
function minuteOf(milliseconds: number): typeof minute {
  const start = Math.floor(milliseconds / 60_000) * 60_000
  const midnight = Math.floor(start / dayLength) * dayLength
  if (midnight !== day.start) {
    day = { start: midnight, text: new Date(midnight).toISOString().slice(0, -'00:00:00.000Z'.length) }
  }
  const minutes = (start - midnight) / 60_000
  const hours = Math.floor(minutes / 60)
  return { start, text: `${day.text}${twoDigits[hours]}:${twoDigits[minutes - hours * 60]}:` }
}

/** @param midnight milliseconds; undefined if the day does not exist */
function timeOf(
  midnight: number | undefined,
  hours: number,
  minutes: number,
  seconds: number,
  milliseconds: number,
): number | undefined {
  if (midnight === undefined || hours > 23 || minutes > 59 || seconds > 59) return undefined
  return midnight + ((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds
}

/** A cache: most records of a write have the same date, and computing its midnight takes as long as the rest of the parsing. */
let lastDay = { year: 1970, month: 1, day: 1, midnight: 0 }

function midnightOf(year: number, month: number, day: number): number | undefined {
  if (day === lastDay.day && month === lastDay.month && year === lastDay.year) return lastDay.midnight
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined
  // Date.UTC reads the years 0 to 99 as 1900 to 1999; setUTCFullYear does not.
  const midnight = new Date(0).setUTCFullYear(year, month - 1, day)
  lastDay = { year, month, day, midnight }
  return midnight
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}
