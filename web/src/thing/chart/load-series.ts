import type { Api } from '../../api/http.ts'
import { type IntervalRecord, type ReadingRecord, resourcePath } from '../../api/records.ts'
import { intervalFor, intervalText, mostPoints } from './interval.ts'
import { type Point, pointOf, type Series } from './series.ts'

interface SeriesQuery {
  readonly thingId: string
  readonly key: string
  /** Milliseconds since the epoch. */
  readonly from: number
  /** Left out: to the end. */
  readonly to?: number
  /** Milliseconds. */
  readonly span: number
}

/**
 * The numbers of a stretch of time: the records themselves if there are at most 600, else intervals of which there are
 * about as many.
 *
 * @throws ApiError
 */
export async function loadSeries(api: Api, query: SeriesQuery, signal: AbortSignal): Promise<Series> {
  const { thingId, key, from, to, span } = query
  const range = {
    startDate: new Date(Math.max(0, from)).toISOString(),
    ...(to === undefined ? {} : { endDate: new Date(to).toISOString() }),
    order: 'asc',
  }
  const path = resourcePath(thingId, key, { ...range, limit: mostPoints })
  const page = await api.getPage<readonly ReadingRecord[]>(path, signal)
  if (page.next === undefined) return { points: page.body.flatMap(pointOfRecord) }

  const interval = intervalFor(span)
  // Intervals are whole ones: the first would otherwise stand for a part of its records.
  const startDate = new Date(Math.max(0, from - (from % interval))).toISOString()
  const summary = { aggregate: 'avg,min,max,count', interval: intervalText(interval) }
  const points: Point[] = []
  let following: string | undefined = resourcePath(thingId, key, { ...range, startDate, ...summary })
  while (following !== undefined) {
    const page: { body: readonly IntervalRecord[]; next?: string } = await api.getPage(following, signal)
    points.push(...page.body.flatMap(pointOfInterval))
    following = page.next
  }
  return { points, interval }
}

function pointOfRecord({ datetime, value }: ReadingRecord): readonly Point[] {
  return typeof value === 'number' ? [pointOf(Date.parse(datetime), value)] : []
}

function pointOfInterval({ datetime, avg, min, max, count }: IntervalRecord): readonly Point[] {
  if (avg === null || min === null || max === null) return []
  return [{ time: Date.parse(datetime), average: avg, lowest: min, highest: max, count }]
}
