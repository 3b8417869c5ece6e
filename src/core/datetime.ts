/**
 * Datetimes of the wire (contract §2): four spellings in, one out. Inside the service a datetime is a whole
 * number of milliseconds since 1970-01-01T00:00:00Z.
 */

const compact = /^(\d{4})(\d\d)(\d\d)T?(\d\d)(\d\d)(\d\d)$/
const compactMilliseconds = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{3})$/
const rfc3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:[Zz]|([+-])(\d\d):(\d\d))?$/

/** How a datetime is spelled that is taken, if it is a real time. */
export const datetimeForms: readonly RegExp[] = [compact, compactMilliseconds, rfc3339]

/** The last millisecond of the year 9999; what comes after it has no spelling. */
export const latestDatetime = 253_402_300_799_999

/** How far ahead of the server a measurement may claim to be, in milliseconds. */
export const futureTolerance = 24 * 60 * 60 * 1000

/**
 * Reads `YYYYMMDDHHmmss`, `YYYYMMDDTHHmmss`, `YYYYMMDDHHmmssSSS` or RFC 3339 with seconds, fraction and zone
 * optional; UTC unless a zone is given, digits past milliseconds cut.
 *
 * @returns milliseconds since the epoch (negative before 1970), or undefined if it is no such text or no real
 * time: month 13, February 30, 24:00, second 60.
 */
export function parseDatetime(text: string): number | undefined {
  const short = compact.exec(text) ?? compactMilliseconds.exec(text)
  if (short) {
    const [, year, month, day, hour, minute, second, milliseconds] = short
    return utc(year, month, day, hour, minute, second, milliseconds)
  }
  const long = rfc3339.exec(text)
  if (!long) return undefined
  const [, year, month, day, hour, minute, second, fraction, sign, zoneHours, zoneMinutes] = long
  const local = utc(year, month, day, hour, minute, second, fraction?.slice(0, 3).padEnd(3, '0'))
  if (local === undefined || sign === undefined) return local
  const hours = Number(zoneHours)
  const minutes = Number(zoneMinutes)
  if (hours > 23 || minutes > 59) return undefined
  return local - (sign === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

let formatted = { milliseconds: 0, text: '1970-01-01T00:00:00.000Z' }

/** The one spelling that is given out: `2015-10-28T12:18:56.799Z`. */
export function formatDatetime(milliseconds: number): string {
  // Of a busy store many records have the datetime of the one before: to spell it takes as long as the rest of a live message.
  if (milliseconds !== formatted.milliseconds) {
    formatted = { milliseconds, text: new Date(milliseconds).toISOString() }
  }
  return formatted.text
}

function utc(
  year: string | undefined,
  month: string | undefined,
  day: string | undefined,
  hour: string | undefined,
  minute: string | undefined,
  second = '0',
  milliseconds = '0',
): number | undefined {
  const wanted = [
    Number(year),
    Number(month),
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  ] as const
  const [y, m, d, h, min, s] = wanted
  if (m < 1 || m > 12 || d < 1 || d > daysInMonth(y, m) || h > 23 || min > 59 || s > 59) return undefined
  const date = new Date(0)
  // Date.UTC reads the years 0 to 99 as 1900 to 1999; setUTCFullYear does not.
  date.setUTCFullYear(y, m - 1, d)
  return date.setUTCHours(h, min, s, Number(milliseconds))
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}
