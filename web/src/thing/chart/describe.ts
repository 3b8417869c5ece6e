import { formatMoment } from '../../time/format.ts'
import { formatNumber } from '../resources/format-value.ts'
import type { Series } from './series.ts'

/** A description of a chart, for screen readers. */
export function describeSeries(key: string, { points }: Series): string {
  const first = points[0]
  const last = points.at(-1)
  if (!first || !last) return `Chart of ${key}: 0 points`
  const lowest = Math.min(...points.map(point => point.lowest))
  const highest = Math.max(...points.map(point => point.highest))
  const range = `lowest ${formatNumber(lowest)}, highest ${formatNumber(highest)}`
  const times = `${formatMoment(first.time)} to ${formatMoment(last.time)}`
  return `Chart of ${key}: ${points.length} points, ${times}, ${range}, last ${formatNumber(last.last)}`
}
