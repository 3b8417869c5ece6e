import { gapsIn } from '../position/gaps.ts'

/** A point of a chart: one record, or what the numbers of one interval come to. */
export interface Point {
  /** Milliseconds since the epoch. */
  readonly time: number
  readonly average: number
  readonly lowest: number
  readonly highest: number
  /** Of records. */
  readonly count: number
}

/** Points in time order. */
export interface Series {
  readonly points: readonly Point[]
  /** Milliseconds that each point stands for; undefined if each is a record. */
  readonly interval?: number
}

export function pointOf(time: number, value: number): Point {
  return { time, average: value, lowest: value, highest: value, count: 1 }
}

/** The series with one record more, in its place. */
export function withRecord(series: Series, time: number, value: number): Series {
  const { points, interval } = series
  if (interval === undefined) {
    const at = indexAfter(points, time)
    const isKnown = points.slice(0, at).some(point => point.time === time && point.average === value)
    return isKnown ? series : { points: points.toSpliced(at, 0, pointOf(time, value)) }
  }
  const start = time - (time % interval)
  const at = indexAfter(points, start)
  const before = points[at - 1]
  if (before?.time !== start) return { interval, points: points.toSpliced(at, 0, pointOf(start, value)) }
  const count = before.count + 1
  const merged: Point = {
    time: start,
    average: before.average + (value - before.average) / count,
    lowest: Math.min(before.lowest, value),
    highest: Math.max(before.highest, value),
    count,
  }
  return { interval, points: points.with(at - 1, merged) }
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
    interval,
  )
}

/** How many points are not later than `time`. */
function indexAfter(points: readonly Point[], time: number): number {
  return points.findLastIndex(point => point.time <= time) + 1
}
