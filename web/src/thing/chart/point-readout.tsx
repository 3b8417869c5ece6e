import { formatMoment } from '../../time/format.ts'
import { averaged, type Description, measured } from '../description.ts'
import { formatNumber } from '../resources/format-value.ts'
import type { Interval } from './interval.ts'
import type { Point } from './series.ts'

interface PointReadoutProps {
  readonly point: Point | undefined
  readonly interval: Interval
  readonly description: Description
}

/** The point under the pointer; without one, the interval of a point. */
export function PointReadout({ point, interval, description }: PointReadoutProps) {
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
