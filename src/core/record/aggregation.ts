import { type AggregateQuery, type Aggregates, maximumPageText } from '../ports.ts'
import { BucketFold } from './bucket-fold.ts'
import type { BucketSummary } from './buckets.ts'

/** Builds the answer to an aggregate query. Records, or summaries of parts of buckets, must be added in the order of the query. */
export class Aggregation {
  readonly #query: Pick<AggregateQuery, 'order' | 'limit' | 'buckets'>
  readonly #buckets: BucketSummary[] = []
  #open: BucketFold | undefined
  #characters = 0
  #next: number | undefined

  constructor(query: Pick<AggregateQuery, 'order' | 'limit' | 'buckets'>) {
    this.#query = query
  }

  /**
   * Adds a record.
   *
   * @param value JSON text
   * @returns false if the answer is complete without this record
   */
  add(datetime: number, value: string): boolean {
    const fold = this.#foldAt(datetime)
    fold?.add(value)
    return fold !== undefined
  }

  /**
   * Adds records that are stored as a column of numbers.
   *
   * @param datetimes the datetimes of the numbers, ascending
   * @param from index of the first number
   * @param to index after the last number (exclusive)
   * @returns false if the answer is complete before the end of the column
   */
  addNumbers(datetimes: Float64Array, numbers: Float64Array, from: number, to: number): boolean {
    const isForwards = this.#query.order === 'asc'
    for (let [low, high] = [from, to]; low < high; ) {
      const fold = this.#foldAt(datetimes[isForwards ? low : high - 1] as number)
      if (!fold) return false
      let [first, last] = [low, high]
      if (isForwards) for (last = low + 1; last < high && (datetimes[last] as number) < fold.end; ) last++
      else for (first = high - 1; first > low && (datetimes[first - 1] as number) >= fold.start; ) first--
      fold.addNumbers(numbers, first, last)
      if (isForwards) low = last
      else high = first
    }
    return true
  }

  /** Adds the summary of records in the bucket of `datetime`. @returns false if the answer is complete without these records */
  merge(datetime: number, summary: Omit<BucketSummary, 'start' | 'end'>): boolean {
    const fold = this.#foldAt(datetime)
    fold?.merge(summary)
    return fold !== undefined
  }

  end(): Aggregates {
    this.#close()
    return this.#next === undefined
      ? { buckets: this.#buckets }
      : { buckets: this.#buckets, next: this.#next }
  }

  /** The bucket of a datetime; undefined if the answer ends before that bucket. */
  #foldAt(datetime: number): BucketFold | undefined {
    const { buckets, order, limit } = this.#query
    const open = this.#open
    if (open && datetime >= open.start && datetime < open.end) return open
    this.#close()
    if (open && (this.#buckets.length === limit || this.#characters >= maximumPageText)) {
      this.#next = order === 'asc' ? open.end : open.start
      return undefined
    }
    this.#open = new BucketFold(buckets.at(datetime), order)
    return this.#open
  }

  #close(): void {
    if (!this.#open) return
    this.#buckets.push(this.#open)
    this.#characters += this.#open.first.length + this.#open.last.length
    this.#open = undefined
  }
}
