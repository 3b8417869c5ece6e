import { pollInterval } from './use-history.ts'

const width = 120
const height = 28
/** Milliseconds over the whole width at least: the first lines would else be all slope. */
const shortest = 60_000

interface SparklineProps {
  readonly points: readonly { readonly at: number; readonly value: number | undefined }[]
}

/** How a number went as long as it was watched, from zero to its greatest; in the middle if it does not change. What it says is beside it in text. */
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
    // At an edge, what does not change would seem to belong to the row next to it.
    const y = isFlat ? height / 2 : height - 1 - (height - 2) * (value / greatest)
    // Nothing is known of the time in which nobody asked.
    path += `${at - drawn > 3 * pollInterval ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`
    drawn = at
  }
  return (
    <svg class="sparkline" aria-hidden="true" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none">
      <path d={path} fill="none" stroke="currentColor" vector-effect="non-scaling-stroke" />
    </svg>
  )
}
