import type { Point } from './series.ts'

/** uPlot finds no steps for an axis beyond some 30 digits; labels are too wide for a phone long before. */
const longestExponent = 14
/** Below it a power of ten is no longer a precise number. */
const leastExponent = -307

/**
 * The power of ten that values are drawn in multiples of.
 *
 * @returns its exponent: 0 unless the greatest value is extremely large or small
 */
export function exponentOf(points: readonly Pick<Point, 'lowest' | 'highest'>[]): number {
  const greatest = points.reduce(
    (most, { lowest, highest }) => Math.max(most, Math.abs(lowest), Math.abs(highest)),
    0,
  )
  if (greatest === 0) return 0
  const exponent = Math.max(Math.floor(Math.log10(greatest)), leastExponent)
  return Math.abs(exponent) <= longestExponent ? 0 : exponent
}

/** @param split where the axis has a label, in multiples of 10 to the power of `exponent` */
export function axisLabel(split: number, exponent: number): string {
  if (exponent === 0 || split === 0) return String(split)
  return `${split}e${exponent > 0 ? '+' : ''}${exponent}`
}
