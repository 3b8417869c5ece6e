import type { Point } from './series.ts'

/** uPlot cannot divide an axis with more than about 30 digits. Far shorter labels are already too wide for a phone. */
const longestExponent = 14
/** Smaller powers of ten are not exact enough as numbers. */
const leastExponent = -307

/**
 * Chooses the power of ten that is the unit of the drawn values.
 *
 * @returns the exponent: 0 unless the greatest value is extremely large or small
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

/** @param split a value with a label on the axis, divided by 10 to the power of `exponent` */
export function axisLabel(split: number, exponent: number): string {
  if (exponent === 0 || split === 0) return String(split)
  return `${split}e${exponent > 0 ? '+' : ''}${exponent}`
}
