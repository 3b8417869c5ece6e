import { formatMoment } from '../../time/format.ts'
import { type Description, measured } from '../description.ts'
import type { Series } from './series.ts'

/** A description of a chart, for screen readers. */
export function describeSeries(
  key: string,
  description: Description,
  { points, interval }: Series,
  isGrowth: boolean,
): string {
  const { name = key } = description
  const first = points[0]
  const last = points.at(-1)
  if (!first || !last) return `Chart of ${name}: 0 points`
  const lowest = Math.min(...points.map(point => point.lowest))
  const highest = Math.max(...points.map(point => point.highest))
  const range = `lowest ${measured(lowest, description)}, highest ${measured(highest, description)}`
  const times = `${formatMoment(first.time)} to ${formatMoment(last.time)}`
  const count = `${points.length === 1 ? '1 point' : `${points.length} points`}${isGrowth ? `, growth in ${interval.text} each` : ''}`
  return `Chart of ${name}: ${count}, ${times}, ${range}, last ${measured(last.last, description)}`
}
