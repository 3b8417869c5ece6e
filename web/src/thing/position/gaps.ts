/** A gap is this many times as wide as usual. No line is drawn over it, because nothing was measured there. */
const gapFactor = 5

/**
 * Where a line must not be drawn, since nothing is known: indexes of the times before which there is a gap.
 *
 * @param times milliseconds, in order
 * @param interval milliseconds that each of them stands for, if they are of intervals
 */
export function gapsIn(times: readonly number[], interval = 0): readonly number[] {
  const steps = times.slice(1).map((time, at) => time - (times[at] ?? time))
  const usual = [...steps].sort((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 0
  const widest = gapFactor * Math.max(usual, interval)
  return steps.flatMap((step, at) => (step > widest ? [at + 1] : []))
}
