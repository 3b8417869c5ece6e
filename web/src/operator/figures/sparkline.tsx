import { pollInterval } from './use-history.ts'

const width = 120
const height = 28
/** Minimum time over the whole width, milliseconds. Without a minimum, the first lines would be too steep. */
const shortest = 60_000

interface SparklineProps {
  readonly points: readonly { readonly at: number; readonly value: number | undefined }[]
}

/** Draws a number over time, from zero to its maximum; in the middle if it does not change. The number is also shown as text. */
export function Sparkline({ points }: SparklineProps) {
  const start = points[0]?.at ?? 0
  const end = Math.max(points.at(-1)?.at ?? 0, start + shortest)
  const greatest = Math.max(...points.map(({ value }) => value ?? 0), Number.MIN_VALUE)
  const isFlat = new Set(points.flatMap(({ value }) => value ?? [])).size < 2
  let path = ''
  let drawn = Number.NEGATIVE_INFINITY
  for (const { at, value } of points) {
    if (value === undefined) continue
    const x = (width * (at - start)) / (end - start)
    // A constant line at an edge would seem to belong to the next row.
    const y = isFlat ? height / 2 : height - 1 - (height - 2) * (value / greatest)
    // A gap: the metrics were not read in this time.
    path += `${at - drawn > 3 * pollInterval ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`
    drawn = at
  }
  return (
    <svg class="sparkline" aria-hidden="true" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none">
      <path d={path} fill="none" stroke="currentColor" vector-effect="non-scaling-stroke" />
    </svg>
  )
}
