import { gapsOf, type Point, type Series } from './series.ts'

/** What is drawn of a series: places and values side by side. */
export interface Line {
  /** Seconds since the epoch, in order. */
  readonly times: readonly number[]
  /** Null where there is a gap. */
  readonly values: readonly (number | null)[]
  /** Which point of the series each is of; undefined: a gap. */
  readonly indexes: readonly (number | undefined)[]
}

/**
 * The line of a series: through the first, lowest, highest and last value of each point, which is as wide as a pixel or two. So it
 * looks as the line through all records would.
 *
 * @param unit what the values are multiples of
 */
export function lineOf(series: Series, unit: number): Line {
  const gaps = new Set(gapsOf(series))
  const times: number[] = []
  const values: (number | null)[] = []
  const indexes: (number | undefined)[] = []
  for (const [at, point] of series.points.entries()) {
    const before = series.points[at - 1]
    if (gaps.has(at) && before) {
      times.push((before.time + point.time) / 2000)
      values.push(null)
      indexes.push(undefined)
    }
    for (const value of valuesOf(point)) {
      times.push(point.time / 1000)
      values.push(value / unit)
      indexes.push(at)
    }
  }
  return { times, values, indexes }
}

/** Those that a line passes at a point: each but once where it stays. */
function valuesOf({ first, lowest, highest, last }: Point): readonly number[] {
  return [first, lowest, highest, last].filter((value, at, all) => value !== all[at - 1])
}
