import { gapsOf, type Series } from './series.ts'

/** The data that is drawn of a series: arrays of equal length. A value is null at a gap. */
export interface Line {
  /** Seconds since the epoch, ascending. */
  readonly times: readonly number[]
  readonly averages: readonly (number | null)[]
  readonly lowests: readonly (number | null)[]
  readonly highests: readonly (number | null)[]
  /** Index of the point in the series; undefined at a gap. */
  readonly indexes: readonly (number | undefined)[]
}

/**
 * The line through the averages of a series, and the edges of the band from lowest to highest.
 *
 * @param unit the unit of the line's values
 */
export function lineOf(series: Series, unit: number): Line {
  const gaps = new Set(gapsOf(series))
  const times: number[] = []
  const averages: (number | null)[] = []
  const lowests: (number | null)[] = []
  const highests: (number | null)[] = []
  const indexes: (number | undefined)[] = []
  const { points } = series
  for (const [at, { time, average, lowest, highest }] of points.entries()) {
    const before = points[at - 1]
    if (gaps.has(at) && before) {
      times.push((before.time + time) / 2000)
      for (const values of [averages, lowests, highests]) values.push(null)
      indexes.push(undefined)
    }
    times.push(time / 1000)
    averages.push(average / unit)
    lowests.push(lowest / unit)
    highests.push(highest / unit)
    indexes.push(at)
  }
  return { times, averages, lowests, highests, indexes }
}

/**
 * Which values get a dot. A value gets a dot if it is further than `apart` from the next value or from an edge: measured values can
 * then be distinguished from the line between them. A value without a line to either side always gets a dot.
 *
 * @param places places of the values, in any unit; 0 is the left edge
 * @param values null at a gap
 * @param width place of the right edge
 * @param apart distance in the unit of the places
 */
export function dotsOf(
  places: readonly number[],
  values: readonly (number | null | undefined)[],
  width: number,
  apart: number,
): number[] {
  const isThere = (at: number) => typeof values[at] === 'number'
  const there = [...values.keys()].filter(isThere)
  return there.filter((at, index) => {
    const place = places[at] ?? 0
    const [before = 0, after = width] = [there[index - 1], there[index + 1]].map(other =>
      other === undefined ? undefined : places[other],
    )
    const isAlone = !isThere(at - 1) && !isThere(at + 1)
    return isAlone || place - before > apart || after - place > apart
  })
}
