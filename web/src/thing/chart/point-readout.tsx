import { formatMoment } from '../../time/format.ts'
import { formatNumber } from '../resources/format-value.ts'
import { intervalText } from './interval.ts'
import type { Point } from './series.ts'

interface PointReadoutProps {
  readonly point: Point | undefined
  readonly interval: number | undefined
}

/** The point under the pointer, or else what a point is. */
export function PointReadout({ point, interval }: PointReadoutProps) {
  if (!point) {
    if (interval === undefined) return <span>Each point is a reading.</span>
    return <span>Line: average of {intervalText(interval)}. Band: lowest to highest value.</span>
  }
  return (
    <span class="readout">
      {formatMoment(point.time)} <strong>{formatNumber(point.average)}</strong>
      {interval !== undefined && ` (${formatNumber(point.lowest)} to ${formatNumber(point.highest)})`}
    </span>
  )
}
