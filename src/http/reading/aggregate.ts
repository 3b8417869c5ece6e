import { readSlices } from '../../core/async/slices.ts'
import type { RecordStore, TimeRange } from '../../core/ports.ts'
import { BucketFold } from '../../core/record/bucket-fold.ts'
import type { Buckets } from '../../core/record/buckets.ts'
import { formatDatetime } from '../../core/record/datetime.ts'
import type { TimeZone } from '../../core/time/time-zone.ts'
import { ThingwireError } from '../../errors.ts'
import type { AggregateQuery } from './aggregate-query.ts'
import { bucketsOf, durationOf, type EvenInterval, type Interval, intervalName } from './interval.ts'
import { intervalText } from './interval-summary.ts'

/** Number of characters after which the intervals of a key end early. Needed because a `first` or `last` can be 64 KiB long. */
const maximumText = 1024 * 1024
/** Number of characters of all keys of an answer together; each key gets an equal share. */
const maximumTextOfAll = 4 * maximumText
/** Number of buckets that are converted to text before each pause. */
const bucketsAtOnce = 64

export interface AggregateAnswer {
  /** The intervals of each key as JSON texts. Keys are in the order of the query. */
  readonly series: ReadonlyMap<string, readonly string[]>
  /** Length of the intervals, if the server chose it. */
  readonly interval?: string
  /** Query parameters of the next page, if there is one; undefined removes a parameter. */
  readonly next?: Readonly<Record<string, string | undefined>>
}

interface Series {
  readonly items: readonly Item[]
  /** Where the rest begins, milliseconds: its `from` or, in descending order, its `to`. */
  readonly next?: number
}

interface Item {
  readonly start: number
  /** The interval as JSON text. */
  readonly text: string
}

/**
 * Summarises each interval of a range, for each key. The answer ends at the same interval for all keys, so that the next
 * request continues all keys.
 *
 * @throws ThingwireError unknown_resource if no key was ever written, or an error of the store
 */
export async function aggregate(
  records: Pick<RecordStore, 'aggregate' | 'read'>,
  thingId: string,
  keys: readonly string[],
  query: AggregateQuery,
): Promise<AggregateAnswer> {
  const { functions, order, limit, zone, isWithEmpty } = query
  const needsEnds = query.interval === undefined || isWithEmpty
  const range = needsEnds ? await rangeOfRecords(records, thingId, keys, query.range) : query.range
  const interval = query.interval ?? lengthFor(range, query)
  const buckets = bucketsOf(interval, zone)
  const all = isWithEmpty ? await bucketsIn(range, buckets, query) : undefined

  const mostText = Math.min(maximumText, maximumTextOfAll / keys.length)
  const found = new Map<string, Series>()
  let end = all?.next
  for (const key of keys) {
    // If an earlier key ended early, this key ends at the same interval. The next request reads the rest.
    const asked = { ...query, range: upTo(range, end, order) }
    const series = await seriesOf(records, thingId, key, asked, buckets, mostText)
    if (!series) continue
    found.set(key, series)
    end = series.next ?? end
  }
  if (found.size === 0) throw new ThingwireError('unknown_resource')

  const isBefore = ({ start }: { readonly start: number }) =>
    end === undefined || (order === 'asc' ? start < end : start >= end)
  const empty = all && (await emptyItems(all.buckets.filter(isBefore), functions))
  const series = new Map<string, readonly string[]>()
  for (const key of keys) {
    const pause = readSlices.pause()
    if (pause) await pause
    const items = found.get(key)?.items.filter(isBefore) ?? []
    series.set(key, empty ? withEmpty(items, empty) : items.map(({ text }) => text))
  }
  const given = query.interval ? {} : { interval: intervalName(interval) }
  if (end === undefined) return { series, ...given }
  const place = { [order === 'asc' ? 'startDate' : 'endDate']: formatDatetime(end) }
  if (query.interval) return { series, next: place }
  const alike = { points: undefined, aggregate: functions.join(','), ...given, limit: String(limit) }
  return { series, ...given, next: { ...alike, ...place } }
}

/** @returns undefined if nothing was ever written to the key */
async function seriesOf(
  records: Pick<RecordStore, 'aggregate'>,
  thingId: string,
  key: string,
  { functions, order, limit, range }: AggregateQuery,
  buckets: Buckets,
  mostText: number,
): Promise<Series | undefined> {
  const items: Item[] = []
  const texts = (['first', 'last'] as const).filter(name => functions.includes(name))
  let characters = 0
  let rest = range
  for (let first = true; ; first = false) {
    const query = { ...rest, order, limit: limit - items.length, buckets }
    const answer = await records.aggregate(thingId, key, query)
    if (!answer && first) return undefined
    for (const summary of answer?.buckets ?? []) {
      const pause = items.length % bucketsAtOnce === 0 ? readSlices.pause() : undefined
      if (pause) await pause
      const { start } = summary
      const before = items.at(-1)
      if (before && characters >= mostText) return { items, next: order === 'asc' ? start : before.start }
      items.push({ start, text: intervalText(summary, functions) })
      for (const name of texts) characters += summary[name].length
    }
    const next = answer?.next
    if (next === undefined) return { items }
    if (items.length === limit || characters >= mostText) return { items, next }
    // Read on: the store ends an answer early if `first` or `last` is long, even if the query does not ask for them.
    rest = order === 'asc' ? { ...range, from: next } : { ...range, to: next }
  }
}

/** The part of a range that is read before `end`; the whole range if `end` is undefined. */
function upTo(range: TimeRange, end: number | undefined, order: 'asc' | 'desc'): TimeRange {
  if (end === undefined) return range
  return order === 'asc' ? { ...range, to: end } : { ...range, from: end }
}

function lengthFor({ from = 0, to = 0 }: TimeRange, { limit, zone }: AggregateQuery): Interval {
  // If the range is empty, any length is correct.
  return columnLength(Math.min(from, to - 1), to, limit, zone)
}

type Bucket = ReturnType<Buckets['at']>

/** The first `limit` buckets of a range; none if the range is open because there are no records. */
async function bucketsIn(
  { from, to }: TimeRange,
  buckets: Buckets,
  { order, limit }: AggregateQuery,
): Promise<{ readonly buckets: readonly Bucket[]; readonly next?: number }> {
  const all: Bucket[] = []
  if (from === undefined || to === undefined || from >= to) return { buckets: all }
  for (let at = order === 'asc' ? from : to - 1; ; ) {
    // The first bucket of a time zone can take milliseconds, because the zone's clock changes have to be looked up.
    await readSlices.pause()
    const bucket = buckets.at(at)
    all.push(bucket)
    if (order === 'asc' ? bucket.end >= to : bucket.start <= from) return { buckets: all }
    if (all.length === limit) return { buckets: all, next: order === 'asc' ? bucket.end : bucket.start }
    at = order === 'asc' ? bucket.end : bucket.start - 1
  }
}

async function emptyItems(
  buckets: readonly Bucket[],
  functions: AggregateQuery['functions'],
): Promise<readonly Item[]> {
  const items: Item[] = []
  for (const bucket of buckets) {
    if (items.length % bucketsAtOnce === 0) await readSlices.pause()
    items.push({ start: bucket.start, text: intervalText(new BucketFold(bucket, 'asc'), functions) })
  }
  return items
}

function withEmpty(items: readonly Item[], empty: readonly Item[]): readonly string[] {
  const texts = new Map(items.map(({ start, text }) => [start, text]))
  return empty.map(({ start, text }) => texts.get(start) ?? text)
}

/** Sets a missing start or end to include the first or last record of all keys. Without records, it stays missing. */
async function rangeOfRecords(
  records: Pick<RecordStore, 'read'>,
  thingId: string,
  keys: readonly string[],
  range: TimeRange,
): Promise<TimeRange> {
  const from = range.from ?? (await ends('asc'))[0]
  const last = range.to === undefined ? (await ends('desc')).at(-1) : range.to - 1
  return { ...(from === undefined ? {} : { from }), ...(last === undefined ? {} : { to: last + 1 }) }

  /** The datetimes of the first (`asc`) or last (`desc`) record of each key, ascending. */
  async function ends(order: 'asc' | 'desc'): Promise<readonly number[]> {
    const datetimes: number[] = []
    for (const key of keys) {
      const page = await records.read(thingId, key, { ...range, order, limit: 1 })
      datetimes.push(...(page?.records ?? []).map(({ datetime }) => datetime))
    }
    return datetimes.sort((a, b) => a - b)
  }
}

const longest: EvenInterval = { count: 5_000_000, unit: 'd' }
/**
 * Round lengths, ascending, so that a chart keeps the same columns as it scrolls. Ten minutes is left out: a store may keep
 * quarter-hour summaries, which serve 15-minute columns but not 10-minute ones.
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

/** The shortest round length with at most `most` columns in a range. @param to exclusive */
function columnLength(from: number, to: number, most: number, zone: TimeZone | undefined): EvenInterval {
  const fits = (length: EvenInterval) => {
    const buckets = bucketsOf(length, zone)
    const between = buckets.at(to - 1).start - buckets.at(from).start
    // Rounded, because a day with a clock change has 23 or 25 hours.
    return Math.round(between / durationOf(length)) < most
  }
  // In a zone behind UTC, there may be no length that fits: the hours before 1970 in local time always form a separate column.
  return lengths.find(fits) ?? longest
}
