import type { Buckets } from '../record/buckets.ts'

/** Buckets of one length, milliseconds, that begin at its multiples since 1970-01-01T00:00:00Z. */
export function utcBuckets(length: number): Buckets {
  return {
    at: datetime => {
      const start = Math.floor(datetime / length) * length
      return { start, end: start + length }
    },
  }
}
