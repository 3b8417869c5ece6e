import type { RecordStore, TimeRange } from '../../core/ports.ts'
import { formatDatetime } from '../../core/record/datetime.ts'
import { utcBuckets } from '../../core/time/utc-buckets.ts'
import { ThingwireError } from '../../errors.ts'
import type { Query } from '../request/query.ts'
import { type AggregateFunction, intervalText, isAggregateFunction } from './interval-summary.ts'

const defaultIntervals = 1000
const maximumIntervals = 10_000
/** Characters of JSON after which an answer ends early: `first` and `last` can be 64 KiB each. */
const maximumText = 1024 * 1024

const unitMilliseconds = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

interface Aggregation {
  /** In the order in which they were asked for. */
  readonly functions: readonly AggregateFunction[]
  /** Milliseconds; intervals are aligned to the UTC epoch. */
  readonly interval: number
  readonly order: 'asc' | 'desc'
  /** Most intervals of one answer. */
  readonly limit: number
  readonly range: TimeRange
}

interface AggregateAnswer {
  /** One JSON text per interval that holds records. */
  readonly items: readonly string[]
  /** Query parameters that ask for what is left, if anything is. */
  readonly next?: Readonly<Record<string, string>>
}

/**
 * What a query asks for by `aggregate` and `interval`; undefined without `aggregate`.
 *
 * @throws ThingwireError invalid_aggregate, invalid_interval, invalid_range, invalid_limit, invalid_query
 */
export function aggregationOf(query: Query): Aggregation | undefined {
  const functions = query.text('aggregate', 'invalid_aggregate')
  if (functions === undefined) return undefined
  return {
    functions: parseFunctions(functions),
    interval: parseInterval(query.text('interval', 'invalid_interval')),
    order: query.oneOf('order', ['desc', 'asc']),
    limit: query.limit(defaultIntervals, maximumIntervals),
    range: query.range(),
  }
}

/**
 * Summarises a range interval by interval.
 *
 * @throws ThingwireError unknown_resource, and those of a store that fails
 */
export async function aggregate(
  records: Pick<RecordStore, 'aggregate'>,
  thingId: string,
  key: string,
  { functions, interval, order, limit, range }: Aggregation,
): Promise<AggregateAnswer> {
  const buckets = utcBuckets(interval)
  const items: string[] = []
  let characters = 0
  let rest = range
  for (let first = true; ; first = false) {
    const answer = await records.aggregate(thingId, key, {
      ...rest,
      order,
      limit: limit - items.length,
      buckets,
    })
    if (!answer && first) throw new ThingwireError('unknown_resource')
    for (const summary of answer?.buckets ?? []) {
      const item = intervalText(summary, functions)
      items.push(item)
      characters += item.length
    }
    const next = answer?.next
    if (next === undefined) return { items }
    if (items.length === limit || characters > maximumText) {
      const name = order === 'asc' ? 'startDate' : 'endDate'
      return { items, next: { [name]: formatDatetime(next) } }
    }
    // The store ends an answer when its first and last are long, also where they are not asked for.
    rest = { ...range, [order === 'asc' ? 'from' : 'to']: next }
  }
}

function parseFunctions(text: string): readonly AggregateFunction[] {
  const names = [...new Set(text.split(','))]
  if (names.every(isAggregateFunction)) return names
  const message =
    'aggregate must be one or more of avg, min, max, sum, count, first, last, separated by commas'
  throw new ThingwireError('invalid_aggregate', message)
}

function parseInterval(text: string | undefined): number {
  const [, count, unit] = /^([1-9]\d{0,9})([smhd])$/.exec(text ?? '') ?? []
  if (count === undefined || unit === undefined) throw new ThingwireError('invalid_interval')
  return Number(count) * unitMilliseconds[unit as keyof typeof unitMilliseconds]
}
