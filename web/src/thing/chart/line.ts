import { gapsOf, type Series } from './series.ts'

/** What is drawn of a series: places and values side by side. Values are null where there is a gap. */
export interface Line {
  /** Seconds since the epoch, in order. */
  readonly times: readonly number[]
  readonly averages: readonly (number | null)[]
  readonly lowests: readonly (number | null)[]
  readonly highests: readonly (number | null)[]
  /** Which point of the series each is of; undefined: a gap. */
  readonly indexes: readonly (number | undefined)[]
}

/**
 * The line of a series through the averages of its points, and the edges of the band from lowest to highest.
 *
 * @param unit what the values are multiples of
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
 * Which values get a dot: those that the next one or an edge is further away from than `apart`, so that it is seen what was measured
 * and what is only joined, and those without a line to either side.
 *
 * @param places of the values, from 0, the left edge; in any unit
 * @param values null where there is a gap
 * @param width place of the right edge
 * @param apart in the unit of the places
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
