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
  /** Most points. */
  readonly points: number
}

/**
 * The numbers of a stretch of time, summed up by the server for as many points as there is room for. However short the stretch is,
 * these are not the records: where each has a point of its own, the point is the record.
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
  // Only where other values than numbers are long.
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
      // Among numbers there may be other values.
      last: typeof last === 'number' ? last : avg,
      count,
    },
  ]
}
