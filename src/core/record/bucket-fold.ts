import type { BucketSummary } from './buckets.ts'

/** Numbers as large as that are summed in a larger unit: so few are needed for their sum to leave the range of a double. */
const hugeFrom = 2 ** 900
/** A power of two, so that a number in it keeps its digits. More of them than any bucket has would be needed to leave the range. */
const hugeUnit = 2 ** 64

/**
 * The summary of the records of one bucket while they are read: the same few numbers, however many records there are. Sums are
 * compensated (Neumaier), so that what rounding takes from them does not grow with the number of records.
 */
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

  /** @param order of datetimes, in which records and summaries are added */
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
    // -0 is 0.
    const number = Number(value) + 0
    this.numbers++
    this.#addSum(number / unitOf(number, number), 0, number, number)
  }

  /** Adds records whose values are numbers, and their texts the shortest ones: those of a column, in the order of time. @param to exclusive */
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

  /** Adds the records of another part of the bucket, of which there is at least one. */
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

/** Sum of the numbers of a bucket: 0 if it has none, infinite if it leaves the range of a double. */
export function sumOf(summary: BucketSummary): number {
  return (summary.sum + summary.compensation) * unitOf(summary.min, summary.max)
}

/** Average of the numbers of a bucket; NaN if it has none. */
export function averageOf(summary: BucketSummary): number {
  return ((summary.sum + summary.compensation) / summary.numbers) * unitOf(summary.min, summary.max)
}

/** What `sum` and `compensation` count: 1, or 2^64 if there is a number of 2^900 or more among those that were added. */
function unitOf(min: number, max: number): number {
  return max >= hugeFrom || min <= -hugeFrom ? hugeUnit : 1
}
