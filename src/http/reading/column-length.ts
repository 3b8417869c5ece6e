import type { TimeZone } from '../../core/time/time-zone.ts'
import { bucketsOf, durationOf, type EvenInterval } from './interval.ts'

const longest: EvenInterval = { count: 5_000_000, unit: 'd' }
/**
 * Lengths that people think in, in rising order: so a chart that is moved keeps its columns. Ten minutes are not among them: stores
 * may keep summaries of quarter hours, and columns of ten minutes would read every record of a week.
 */
const lengths: readonly EvenInterval[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500].map(count => ({ count, unit: 'ms' }) as const),
  ...[1, 2, 5, 10, 15, 30].map(count => ({ count, unit: 's' }) as const),
  ...[1, 2, 5, 15, 30].map(count => ({ count, unit: 'm' }) as const),
  ...[1, 2, 3, 6, 12].map(count => ({ count, unit: 'h' }) as const),
  ...[1, 10, 100, 1000, 10_000, 100_000, 1_000_000].flatMap(ten =>
    [1, 2, 5].map(count => ({ count: count * ten, unit: 'd' }) as const),
  ),
]

/** The shortest round length of which a range from `from` to before `to` has at most `most` columns. */
export function columnLength(
  from: number,
  to: number,
  most: number,
  zone: TimeZone | undefined,
): EvenInterval {
  const fits = (length: EvenInterval) => {
    const buckets = bucketsOf(length, zone)
    const between = buckets.at(to - 1).start - buckets.at(from).start
    // Rounded: where clocks change a day has 23 or 25 hours.
    return Math.round(between / durationOf(length)) < most
  }
  // In a zone behind UTC the first hours of all time are a column of their own, however long the columns are.
  return lengths.find(fits) ?? longest
}
