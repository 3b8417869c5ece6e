import type { Buckets } from '../../../core/record/buckets.ts'
import { milliseconds, utcBuckets } from '../../../core/time/utc-buckets.ts'

/** Milliseconds. Days of every time zone begin and end with one of UTC's: their offsets are multiples of it. */
export const quarterHour = 15 * milliseconds.m
export const dayLength = milliseconds.d

export const quarterHours: Buckets = utcBuckets(quarterHour)

/** The begin of the day of UTC that a datetime is in. */
export function dayOf(datetime: number): number {
  return datetime - (datetime % dayLength)
}
