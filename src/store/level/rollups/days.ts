import type { Buckets } from '../../../core/record/buckets.ts'
import { milliseconds, utcBuckets } from '../../../core/time/utc-buckets.ts'

/** Milliseconds. In every time zone, a day begins at a quarter hour of UTC, since all offsets are multiples of 15 minutes. */
export const quarterHour = 15 * milliseconds.m
export const dayLength = milliseconds.d

export const quarterHours: Buckets = utcBuckets(quarterHour)

/** Start of the UTC day of a datetime, milliseconds. */
export function dayOf(datetime: number): number {
  return datetime - (datetime % dayLength)
}
