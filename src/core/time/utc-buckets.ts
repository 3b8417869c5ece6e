import type { Buckets } from '../record/buckets.ts'

/** Length of the units of time that have a fixed length, milliseconds. A day is a UTC day. */
export const milliseconds = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Buckets of a fixed length, counted from 1970-01-01T00:00:00Z. @param length milliseconds */
export function utcBuckets(length: number): Buckets {
  return {
    at: datetime => {
      const start = Math.floor(datetime / length) * length
      return { start, end: start + length }
    },
  }
}
