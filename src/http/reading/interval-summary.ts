import { formatDatetime } from '../../core/record/datetime.ts'

const functions = ['avg', 'min', 'max', 'sum', 'count', 'first', 'last'] as const

export type AggregateFunction = (typeof functions)[number]

export function isAggregateFunction(name: string): name is AggregateFunction {
  return (functions as readonly string[]).includes(name)
}

/** What is kept of the records of one interval: the same few numbers, however many records there are. */
export class IntervalSummary {
  /** Milliseconds. */
  readonly start: number
  #count = 0
  #numbers = 0
  #sum = 0
  #min = Number.POSITIVE_INFINITY
  #max = Number.NEGATIVE_INFINITY
  #firstAdded = 'null'
  #lastAdded = 'null'

  constructor(start: number) {
    this.start = start
  }

  /** @param value JSON text */
  add(value: string): void {
    if (this.#count === 0) this.#firstAdded = value
    this.#lastAdded = value
    this.#count++
    if (!/^[-\d]/.test(value)) return
    const number = Number(value)
    this.#numbers++
    this.#sum += number
    this.#min = Math.min(this.#min, number)
    this.#max = Math.max(this.#max, number)
  }

  /**
   * The interval as JSON text. `avg`, `min`, `max`, `sum` are null without a number, and where they leave the range
   * of a double.
   *
   * @param order in which the records were added
   */
  text(wanted: readonly AggregateFunction[], order: 'asc' | 'desc'): string {
    const isForwards = order === 'asc'
    const results: Readonly<Record<AggregateFunction, string>> = {
      avg: JSON.stringify(this.#sum / this.#numbers),
      min: JSON.stringify(this.#min),
      max: JSON.stringify(this.#max),
      sum: this.#numbers === 0 ? 'null' : JSON.stringify(this.#sum),
      count: String(this.#count),
      first: isForwards ? this.#firstAdded : this.#lastAdded,
      last: isForwards ? this.#lastAdded : this.#firstAdded,
    }
    const members = wanted.map(name => `,"${name}":${results[name]}`)
    return `{"datetime":"${formatDatetime(this.start)}"${members.join('')}}`
  }
}
