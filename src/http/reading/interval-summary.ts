import { averageOf, sumOf } from '../../core/record/bucket-fold.ts'
import type { BucketSummary } from '../../core/record/buckets.ts'
import { formatDatetime } from '../../core/record/datetime.ts'

const functions = ['avg', 'min', 'max', 'sum', 'count', 'first', 'last'] as const

export type AggregateFunction = (typeof functions)[number]

/** Number of significant digits of sums and averages. Further digits would depend on the order of addition. */
const significantDigits = 15

export function isAggregateFunction(name: string): name is AggregateFunction {
  return (functions as readonly string[]).includes(name)
}

/** An interval as JSON text. Without numbers, `avg`, `min`, `max` and `sum` are null. `avg` and `sum` are null if they overflow. */
export function intervalText(summary: BucketSummary, wanted: readonly AggregateFunction[]): string {
  const results: Readonly<Record<AggregateFunction, string>> = {
    avg: roundedText(averageOf(summary)),
    min: JSON.stringify(summary.min),
    max: JSON.stringify(summary.max),
    sum: summary.numbers === 0 ? 'null' : roundedText(sumOf(summary)),
    count: String(summary.count),
    first: summary.first,
    last: summary.last,
  }
  const members = wanted.map(name => `,"${name}":${results[name]}`)
  return `{"datetime":"${formatDatetime(summary.start)}"${members.join('')}}`
}

function roundedText(number: number): string {
  const rounded = Number(number.toPrecision(significantDigits))
  // Rounding could turn the largest doubles into Infinity.
  return JSON.stringify(Number.isFinite(rounded) ? rounded : number)
}
