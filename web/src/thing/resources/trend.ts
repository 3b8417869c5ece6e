/** CSS pixels. */
export const trendWidth = 96
export const trendHeight = 20
const margin = 2

/** The points of an SVG polyline through numbers, evenly spaced, from the lowest to the highest. @param numbers at least two */
export function trendPoints(numbers: readonly number[]): string {
  // What two numbers are apart may be more than a number can be; half of it never is.
  const unit = Number.isFinite(Math.max(...numbers) - Math.min(...numbers)) ? 1 : 2
  const values = numbers.map(number => number / unit)
  const lowest = Math.min(...values)
  const range = Math.max(...values) - lowest
  const x = (at: number) => (at / (values.length - 1)) * (trendWidth - 2 * margin) + margin
  const y = (value: number) =>
    range === 0
      ? trendHeight / 2
      : trendHeight - margin - ((value - lowest) / range) * (trendHeight - 2 * margin)
  return values.map((value, at) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ')
}
