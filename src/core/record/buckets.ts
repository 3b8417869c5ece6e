/** A division of time into buckets without gaps. */
export interface Buckets {
  /** The bucket of a datetime, milliseconds; `end` is exclusive. */
  at(datetime: number): { readonly start: number; readonly end: number }
}

/** Summary of the records of a range in one bucket, at least one. */
export interface BucketSummary {
  /** Begin of the bucket, perhaps before the range; milliseconds. */
  readonly start: number
  /** Exclusive, milliseconds. */
  readonly end: number
  readonly count: number
  /** Number of records with a number as value. */
  readonly numbers: number
  /** The sum of the numbers is in `sum` and `compensation`: see `sumOf` and `averageOf` of bucket-fold.ts. */
  readonly sum: number
  readonly compensation: number
  /** Infinity without a number. */
  readonly min: number
  /** -Infinity without a number. */
  readonly max: number
  /** Value of the earliest record, JSON text. */
  readonly first: string
  readonly last: string
}
