import { gapsIn } from '../position/gaps.ts'
import type { Interval } from './interval.ts'

/** A point of a chart: the numbers of one interval. */
export interface Point {
  /** Begin of the interval, milliseconds since the epoch. */
  readonly time: number
  readonly average: number
  readonly lowest: number
  readonly highest: number
  readonly last: number
  /** Records behind it, at least 1. */
  readonly count: number
}

/** Points in time order. */
export interface Series {
  readonly points: readonly Point[]
  /** What each point stands for. */
  readonly interval: Interval
}

/**
 * The series with one record more, in its place. One that is there already changes no extreme, and the average by less than its
 * share: what comes while points are read may be in them.
 */
export function withRecord(series: Series, time: number, value: number): Series {
  const { points, interval } = series
  const start = time - (time % interval.length)
  const at = points.findLastIndex(point => point.time <= start)
  const before = points[at]
  if (before?.time !== start) {
    const point = { time: start, average: value, lowest: value, highest: value, last: value, count: 1 }
    return { interval, points: points.toSpliced(at + 1, 0, point) }
  }
  const count = before.count + 1
  const merged: Point = {
    time: start,
    // Not by way of a sum or a difference, which may be larger than a number can be.
    average: before.average * (before.count / count) + value / count,
    lowest: Math.min(before.lowest, value),
    highest: Math.max(before.highest, value),
    last: value,
    count,
  }
  return { interval, points: points.with(at, merged) }
}

/** The series without what is over. @param from milliseconds since the epoch */
export function since(series: Series, from: number): Series {
  const first = series.points.findIndex(point => point.time >= from)
  if (first === 0) return series
  return { ...series, points: first === -1 ? [] : series.points.slice(first) }
}

/** Where no line must be drawn: indexes of the points before which there is a gap. */
export function gapsOf({ points, interval }: Series): readonly number[] {
  return gapsIn(
    points.map(({ time }) => time),
    interval.length,
  )
}
