import type { Buckets } from '../../core/record/buckets.ts'
import { calendarBuckets } from '../../core/time/calendar-buckets.ts'
import { type TimeZone, utc } from '../../core/time/time-zone.ts'
import { milliseconds as longer, utcBuckets } from '../../core/time/utc-buckets.ts'
import { ThingwireError } from '../../errors.ts'

/** Length in milliseconds of each unit that has a constant length. */
const milliseconds = { ms: 1, ...longer } as const

export interface Interval {
  readonly count: number
  readonly unit: keyof typeof milliseconds | 'mo'
}

/** An interval of constant length, except for days with a clock change. */
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

/** The interval as a text that `parseInterval` accepts. */
export function intervalName({ count, unit }: Interval): string {
  return `${count}${unit}`
}

/** Days and months follow the calendar of the zone. Shorter intervals begin at multiples of their length in UTC. */
export function bucketsOf(interval: Interval, zone: TimeZone = utc): Buckets {
  const { count, unit } = interval
  return unit === 'd' || unit === 'mo'
    ? calendarBuckets(zone, unit, count)
    : utcBuckets(count * milliseconds[unit])
}

/** The length of an interval in milliseconds. */
export function durationOf({ count, unit }: EvenInterval): number {
  return count * milliseconds[unit]
}
