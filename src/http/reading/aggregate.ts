import type { RecordStore, TimeRange } from '../../core/ports.ts'
import { formatDatetime } from '../../core/record/datetime.ts'
import { ThingwireError } from '../../errors.ts'
import type { Query } from '../request/query.ts'
import { type AggregateFunction, IntervalSummary, isAggregateFunction } from './interval-summary.ts'
import { pages } from './pages.ts'

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
  readonly next?: { readonly startDate: string } | { readonly endDate: string }
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
 * Summarises a range interval by interval; of the records only a page is in memory at a time.
 *
 * @throws ThingwireError as `pages`
 */
export async function aggregate(
  records: Pick<RecordStore, 'read'>,
  thingId: string,
  key: string,
  { functions, interval, order, limit, range }: Aggregation,
): Promise<AggregateAnswer> {
  const items: string[] = []
  let characters = 0
  let open: IntervalSummary | undefined
  const finish = (summary: IntervalSummary): void => {
    const item = summary.text(functions, order)
    items.push(item)
    characters += item.length
  }
  for await (const page of pages(records, thingId, key, { ...range, order })) {
    for (const { datetime, value } of page) {
      const start = datetime - (datetime % interval)
      if (open?.start !== start) {
        if (open) finish(open)
        if (open && (items.length === limit || characters > maximumText)) {
          return { items, next: afterInterval(open.start, interval, order) }
        }
        open = new IntervalSummary(start)
      }
      open.add(value)
    }
  }
  if (open) finish(open)
  return { items }
}

function afterInterval(start: number, interval: number, order: 'asc' | 'desc') {
  return order === 'asc'
    ? { startDate: formatDatetime(start + interval) }
    : { endDate: formatDatetime(start) }
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
