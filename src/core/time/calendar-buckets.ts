import type { Buckets } from '../record/buckets.ts'
import type { TimeZone } from './time-zone.ts'
import { milliseconds } from './utc-buckets.ts'

/** Days or months, numbered from 1970. A local time is in milliseconds since 1970, computed as if the date and clock were UTC. */
interface CalendarUnit {
  /** Number of the day or month that contains a local time; 1970-01-01 is in number 0. */
  numberAt(local: number): number
  startOf(number: number): number
  /** Maximum number of units in a bucket: longer than the time from 1970 to 9999, but within the range of `Date`. */
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

/** Zones are at most 14 hours ahead of UTC. This leaves one hour to spare. */
const farthestAhead = 15 * milliseconds.h

/**
 * Buckets of `count` days or months in a zone, counted from 1970-01-01. A day begins at the first instant of its date, so a day
 * without midnight begins later. If clocks are set back across midnight, the repeated part of the old date belongs to the new day.
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

/** The first instant at which clocks in the zone show `local` or later. @param local local time as if it were UTC, milliseconds */
export function firstAt(zone: TimeZone, local: number): number {
  for (let at = local - farthestAhead; ; ) {
    const { start, end, offset } = zone.spanAt(at)
    const instant = Math.max(start, local - offset)
    if (instant < end) return instant
    at = end
  }
}
