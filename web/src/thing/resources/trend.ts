/** CSS pixels. */
export const trendWidth = 96
export const trendHeight = 20
const margin = 2

/** The points of an SVG polyline through numbers at equal distances, scaled from lowest to highest. @param numbers at least two */
export function trendPoints(numbers: readonly number[]): string {
  // The difference of two numbers may overflow. The difference of their halves cannot.
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
