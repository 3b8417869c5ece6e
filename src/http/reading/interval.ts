import type { Buckets } from '../../core/record/buckets.ts'
import { calendarBuckets } from '../../core/time/calendar-buckets.ts'
import { type TimeZone, utc } from '../../core/time/time-zone.ts'
import { milliseconds as longer, utcBuckets } from '../../core/time/utc-buckets.ts'
import { ThingwireError } from '../../errors.ts'

/** Milliseconds of the units of intervals that are equally long. */
const milliseconds = { ms: 1, ...longer } as const

/** How long an interval is. */
export interface Interval {
  readonly count: number
  readonly unit: keyof typeof milliseconds | 'mo'
}

/** One of which all are equally long, but for days on which clocks change. */
export interface EvenInterval extends Interval {
  readonly unit: keyof typeof milliseconds
}

export const intervalForm = /^([1-9]\d{0,9})(ms|s|m|h|d|mo)$/

/** @throws ThingwireError invalid_interval */
export function parseInterval(text: string | undefined): Interval {
  const [, count, unit] = intervalForm.exec(text ?? '') ?? []
  if (count === undefined || unit === undefined) throw new ThingwireError('invalid_interval')
  return { count: Number(count), unit: unit as Interval['unit'] }
}

/** The text that `parseInterval` reads. */
export function intervalName({ count, unit }: Interval): string {
  return `${count}${unit}`
}

/** Days and months are those of the zone. Shorter intervals are of one length everywhere, and begin at multiples of it in UTC. */
export function bucketsOf(interval: Interval, zone: TimeZone = utc): Buckets {
  const { count, unit } = interval
  return unit === 'd' || unit === 'mo'
    ? calendarBuckets(zone, unit, count)
    : utcBuckets(count * milliseconds[unit])
}

/** Milliseconds. */
export function durationOf({ count, unit }: EvenInterval): number {
  return count * milliseconds[unit]
}
