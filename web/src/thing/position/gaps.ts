/** A gap is a step that is this many times as wide as the usual step. No line is drawn over a gap. */
const gapFactor = 5

/**
 * Indexes of the times before which there is a gap. Across a gap, no line may be drawn.
 *
 * @param times milliseconds, ascending
 * @param interval milliseconds between the times, if they are starts of intervals
 */
export function gapsIn(times: readonly number[], interval = 0): readonly number[] {
  const steps = times.slice(1).map((time, at) => time - (times[at] ?? time))
  const usual = [...steps].sort((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 0
  const widest = gapFactor * Math.max(usual, interval)
  return steps.flatMap((step, at) => (step > widest ? [at + 1] : []))
}
