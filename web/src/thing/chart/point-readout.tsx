import { formatMoment } from '../../time/format.ts'
import { formatNumber } from '../resources/format-value.ts'
import type { Interval } from './interval.ts'
import type { Point } from './series.ts'

interface PointReadoutProps {
  readonly point: Point | undefined
  readonly interval: Interval
}

/** The point under the pointer, or else how much time a point stands for. */
export function PointReadout({ point, interval }: PointReadoutProps) {
  if (!point) return <span>A point is {interval.text}, with its lowest and highest value.</span>
  const { time, lowest, highest, last } = point
  return (
    <span class="readout">
      {formatMoment(time)} <strong>{formatNumber(last)}</strong>
      {lowest !== highest && ` (${formatNumber(lowest)} to ${formatNumber(highest)})`}
    </span>
  )
}
