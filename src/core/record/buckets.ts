/** A division of time into buckets without gaps. */
export interface Buckets {
  /** The bucket that contains a datetime; all in milliseconds, `end` is exclusive. */
  at(datetime: number): { readonly start: number; readonly end: number }
}

/** Summary of a bucket's records in the queried range. There is at least one record. */
export interface BucketSummary {
  /** Start of the bucket, milliseconds; may be before the start of the range. */
  readonly start: number
  /** Exclusive, milliseconds. */
  readonly end: number
  readonly count: number
  /** Number of records whose value is a number. */
  readonly numbers: number
  /** `sumOf` and `averageOf` in bucket-fold.ts compute the sum and the average from `sum` and `compensation`. */
  readonly sum: number
  readonly compensation: number
  /** Infinity if no value is a number. */
  readonly min: number
  /** -Infinity if no value is a number. */
  readonly max: number
  /** Value of the earliest record, JSON text. */
  readonly first: string
  readonly last: string
}
