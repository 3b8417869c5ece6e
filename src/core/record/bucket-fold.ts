import type { BucketSummary } from './buckets.ts'

/** If a bucket has a number of at least this absolute value, the sum is kept in a larger unit: otherwise it could overflow. */
const hugeFrom = 2 ** 900
/** A power of two, so that dividing by `hugeUnit` is exact. Large enough that the sum of a bucket cannot overflow. */
const hugeUnit = 2 ** 64

/** Summarises a bucket in constant memory. Compensated sums (Neumaier) keep the rounding error from growing with the bucket. */
export class BucketFold implements BucketSummary {
  readonly start: number
  readonly end: number
  count = 0
  numbers = 0
  sum = 0
  compensation = 0
  min = Number.POSITIVE_INFINITY
  max = Number.NEGATIVE_INFINITY
  first = 'null'
  last = 'null'
  readonly #isForwards: boolean

  /** @param order the order in which records and summaries are added */
  constructor({ start, end }: Pick<BucketSummary, 'start' | 'end'>, order: 'asc' | 'desc') {
    this.start = start
    this.end = end
    this.#isForwards = order === 'asc'
  }

  /** @param value JSON text of a record */
  add(value: string): void {
    this.#addTexts(value, value)
    this.count++
    if (!/^[-\d]/.test(value)) return
    // Adding 0 turns -0 into 0.
    const number = Number(value) + 0
    this.numbers++
    this.#addSum(number / unitOf(number, number), 0, number, number)
  }

  /** Adds numbers of a column, ascending by time. The JSON text of each must equal `String(number)`. @param to index, exclusive */
  addNumbers(numbers: Float64Array, from: number, to: number): void {
    this.#addTexts(String(numbers[from]), String(numbers[to - 1]))
    this.count += to - from
    this.numbers += to - from
    let { sum, compensation, min, max } = this
    for (let index = from; index < to; index++) {
      const number = numbers[index] as number
      if (number < min) min = number
      if (number > max) max = number
      const before = sum
      sum += number
      compensation += Math.abs(before) >= Math.abs(number) ? before - sum + number : number - sum + before
    }
    if (unitOf(min, max) === 1) {
      this.sum = sum
      this.compensation = compensation
      this.min = min
      this.max = max
    } else this.#addHuge(numbers, from, to)
  }

  #addHuge(numbers: Float64Array, from: number, to: number): void {
    for (let index = from; index < to; index++) {
      const number = numbers[index] as number
      this.#addSum(number / unitOf(number, number), 0, number, number)
    }
  }

  /** Adds the summary of another part of the bucket. That part must have at least one record. */
  merge({
    count,
    numbers,
    sum,
    compensation,
    min,
    max,
    first,
    last,
  }: Omit<BucketSummary, 'start' | 'end'>): void {
    this.#addTexts(first, last)
    this.count += count
    this.numbers += numbers
    this.#addSum(sum, compensation, min, max)
  }

  #addTexts(first: string, last: string): void {
    if (this.count === 0 || !this.#isForwards) this.first = first
    if (this.count === 0 || this.#isForwards) this.last = last
  }

  #addSum(sum: number, compensation: number, min: number, max: number): void {
    const unitBefore = unitOf(this.min, this.max)
    const unitOfAdded = unitOf(min, max)
    if (min < this.min) this.min = min
    if (max > this.max) this.max = max
    const unit = Math.max(unitBefore, unitOfAdded)
    const before = this.sum / (unit / unitBefore)
    const added = sum / (unit / unitOfAdded)
    this.sum = before + added
    const lost = Math.abs(before) >= Math.abs(added) ? before - this.sum + added : added - this.sum + before
    this.compensation = this.compensation / (unit / unitBefore) + compensation / (unit / unitOfAdded) + lost
  }
}

/** The sum of the numbers of a bucket: 0 if it has no numbers, infinite on overflow. */
export function sumOf(summary: BucketSummary): number {
  return (summary.sum + summary.compensation) * unitOf(summary.min, summary.max)
}

/** The average of the numbers of a bucket; NaN if it has no numbers. */
export function averageOf(summary: BucketSummary): number {
  return ((summary.sum + summary.compensation) / summary.numbers) * unitOf(summary.min, summary.max)
}

/** Unit of `sum` and `compensation`: 1, or 2^64 if the absolute value of a number is 2^900 or larger. */
function unitOf(min: number, max: number): number {
  return max >= hugeFrom || min <= -hugeFrom ? hugeUnit : 1
}
