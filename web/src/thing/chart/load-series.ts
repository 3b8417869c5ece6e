import type { Api } from '../../api/http.ts'
import { type IntervalRecord, resourcePath } from '../../api/records.ts'
import { parseInterval } from './interval.ts'
import type { Point, Series } from './series.ts'

interface SeriesQuery {
  readonly thingId: string
  readonly key: string
  /** Milliseconds since the epoch. */
  readonly from: number
  /** Milliseconds since the epoch, exclusive. */
  readonly to: number
  /** Maximum number of points. */
  readonly points: number
}

/**
 * The numbers of a range of time, summarised by the server into at most `points` points. Even in a short range, the points are
 * summaries and not records. A point with a single record has the value of that record.
 *
 * @throws ApiError
 */
export async function loadSeries(api: Api, query: SeriesQuery, signal: AbortSignal): Promise<Series> {
  const { thingId, key, from, to, points } = query
  const path = resourcePath(thingId, key, {
    startDate: new Date(Math.max(0, from)).toISOString(),
    endDate: new Date(to).toISOString(),
    order: 'asc',
    points,
  })
  let page = await api.getPage<readonly IntervalRecord[]>(path, signal)
  const interval = parseInterval(page.interval)
  const read = page.body.flatMap(pointOf)
  // There is a next page only if the resource contains long texts.
  while (page.next !== undefined) {
    page = await api.getPage(page.next, signal)
    read.push(...page.body.flatMap(pointOf))
  }
  return { points: read, interval }
}

function pointOf({ datetime, avg, min, max, count, last }: IntervalRecord): readonly Point[] {
  if (avg === null || min === null || max === null) return []
  return [
    {
      time: Date.parse(datetime),
      average: avg,
      lowest: min,
      highest: max,
      // The last record may be a text instead of a number.
      last: typeof last === 'number' ? last : avg,
      count,
    },
  ]
}
