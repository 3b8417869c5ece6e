import { gapsIn } from '../position/gaps.ts'
import type { Interval } from './interval.ts'

/** A point of a chart: what the numbers of one interval come to. */
export interface Point {
  /** Begin of the interval, milliseconds since the epoch. */
  readonly time: number
  readonly first: number
  readonly lowest: number
  readonly highest: number
  readonly last: number
}

/** Points in time order. */
export interface Series {
  readonly points: readonly Point[]
  /** What each point stands for. */
  readonly interval: Interval
}

/** The series with one record more, in its place. One that is there already changes nothing. */
export function withRecord(series: Series, time: number, value: number): Series {
  const { points, interval } = series
  const start = time - (time % interval.length)
  const at = points.findLastIndex(point => point.time <= start)
  const before = points[at]
  if (before?.time !== start) {
    const point = { time: start, first: value, lowest: value, highest: value, last: value }
    return { interval, points: points.toSpliced(at + 1, 0, point) }
  }
  const merged: Point = {
    ...before,
    lowest: Math.min(before.lowest, value),
    highest: Math.max(before.highest, value),
    last: value,
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
