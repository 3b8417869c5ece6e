import type { Buckets } from '../record/buckets.ts'
import type { TimeZone } from './time-zone.ts'
import { milliseconds } from './utc-buckets.ts'

/** Local times are counted as if they were UTC, milliseconds. */
interface CalendarUnit {
  /** Of the unit that a time is in, counted from the one of 1970-01-01. */
  numberAt(local: number): number
  startOf(number: number): number
  /** So many last longer than the time from 1970 to the year 9999, and not as long as dates go. */
  readonly enough: number
}

const units = {
  d: {
    numberAt: local => Math.floor(local / milliseconds.d),
    startOf: number => number * milliseconds.d,
    enough: 3_000_000,
  },
  mo: {
    numberAt: local => {
      const date = new Date(local)
      return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth()
    },
    startOf: number => Date.UTC(1970, number, 1),
    enough: 100_000,
  },
} as const satisfies Record<string, CalendarUnit>

/** No zone is further ahead of UTC: 14 hours, and one to spare. */
const farthestAhead = 15 * milliseconds.h

/**
 * Days or months of a zone, `count` to a bucket, counted from 1970-01-01 on. A day begins with the first instant of its date, so
 * that a day without midnight begins later. A date that comes again, since clocks were put back over midnight, is not taken up again.
 */
export function calendarBuckets(zone: TimeZone, unit: keyof typeof units, count: number): Buckets {
  const { numberAt, startOf, enough } = units[unit]
  const length = Math.min(count, enough)
  let last = { start: 0, end: 0 }
  return {
    at: datetime => {
      if (datetime >= last.start && datetime < last.end) return last
      let bucket = Math.floor(numberAt(datetime + zone.spanAt(datetime).offset) / length)
      while (edge(bucket + 1) <= datetime) bucket++
      last = { start: edge(bucket), end: edge(bucket + 1) }
      return last
    },
  }

  function edge(bucket: number): number {
    return firstAt(zone, startOf(bucket * length))
  }
}

/**
 * The first instant at which clocks of the zone show a local time, or a later one.
 *
 * @param local as if it were UTC, milliseconds; so is the result, of UTC itself
 */
export function firstAt(zone: TimeZone, local: number): number {
  for (let at = local - farthestAhead; ; ) {
    const { start, end, offset } = zone.spanAt(at)
    const instant = Math.max(start, local - offset)
    if (instant < end) return instant
    at = end
  }
}
