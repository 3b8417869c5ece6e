/** Time, parted into buckets without a gap. */
export interface Buckets {
  /** The bucket that a datetime is in, milliseconds; `end` is exclusive. */
  at(datetime: number): { readonly start: number; readonly end: number }
}

/** What the records of a range have in one bucket, which holds at least one of them. */
export interface BucketSummary {
  /** Of the bucket, milliseconds: it may begin before the range. */
  readonly start: number
  /** Exclusive, milliseconds. */
  readonly end: number
  /** How many records there are. */
  readonly count: number
  /** How many of them have a number as value. */
  readonly numbers: number
  /** With `compensation` the sum of the numbers, as `sumOf` and `averageOf` of bucket-fold.ts read it. */
  readonly sum: number
  readonly compensation: number
  /** Infinity without a number. */
  readonly min: number
  /** -Infinity without a number. */
  readonly max: number
  /** Value of the first record in the order of time, JSON text. */
  readonly first: string
  readonly last: string
}
