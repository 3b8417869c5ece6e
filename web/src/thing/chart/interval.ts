const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** Points that a chart is given at most, give or take one: there are few more pixels. */
export const mostPoints = 600

/** Milliseconds, from small to large: what people count in, so that intervals begin where they would look. */
const intervals = [
  ...[1, 2, 5, 10, 15, 30].map(count => count * second),
  ...[1, 2, 5, 10, 15, 30].map(count => count * minute),
  ...[1, 2, 3, 6, 12].map(count => count * hour),
  ...[1, 2, 7, 30, 90, 365].map(count => count * day),
]

/** The smallest interval of which at most 600 fill a span. @returns milliseconds */
export function intervalFor(span: number): number {
  return intervals.find(interval => span / interval <= mostPoints) ?? 365 * day
}

/** As the server takes it, such as `90s`; also what people read. */
export function intervalText(interval: number): string {
  const units = { d: day, h: hour, m: minute } as const
  for (const [unit, size] of Object.entries(units)) {
    if (interval % size === 0) return `${interval / size}${unit}`
  }
  return `${interval / second}s`
}
