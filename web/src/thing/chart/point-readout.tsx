import { formatMoment } from '../../time/format.ts'
import { formatNumber } from '../resources/format-value.ts'
import type { Interval } from './interval.ts'
import type { Point } from './series.ts'

interface PointReadoutProps {
  readonly point: Point | undefined
  readonly interval: Interval
}

/** The point under the pointer; without one, the interval of a point. */
export function PointReadout({ point, interval }: PointReadoutProps) {
  if (!point) return <span>Line: average of {interval.text}. Band: lowest to highest.</span>
  const { time, average, lowest, highest } = point
  return (
    <span class="readout">
      {formatMoment(time)} <strong>{formatNumber(average)}</strong>
      {lowest !== highest && ` (average; ${formatNumber(lowest)} to ${formatNumber(highest)})`}
    </span>
  )
}
