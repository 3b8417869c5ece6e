import { formatMoment } from '../../time/format.ts'
import { averaged, type Description, measured } from '../description.ts'
import { formatNumber } from '../resources/format-value.ts'
import { type Point, type Series, sumOf } from './series.ts'

interface PointReadoutProps {
  readonly point: Point | undefined
  readonly series: Series
  readonly description: Description
  /** Whether the points are how much a counter has grown. */
  readonly isGrowth: boolean
}

/** The point under the pointer; without one, the interval of a point. */
export function PointReadout({
  point,
  series: { points, interval },
  description,
  isGrowth,
}: PointReadoutProps) {
  if (isGrowth) {
    const grown = point?.average ?? sumOf(points.map(({ average }) => average))
    return (
      <span class="readout">
        {point && `${formatMoment(point.time)} `}
        <strong>{measured(grown, description)}</strong>
        {point ? ` in ${interval.text}` : ` in all. Bars: growth in ${interval.text}.`}
      </span>
    )
  }
  if (!point) return <span>Line: average of {interval.text}. Band: lowest to highest.</span>
  const { time, average, lowest, highest } = point
  return (
    <span class="readout">
      {formatMoment(time)} <strong>{averaged(average, point, description)}</strong>
      {lowest !== highest &&
        ` (average; ${formatNumber(lowest, description.decimals)} to ${measured(highest, description)})`}
    </span>
  )
}
