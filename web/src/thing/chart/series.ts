import { gapsIn } from '../position/gaps.ts'
import { decimalsOf } from '../resources/format-value.ts'
import type { Interval } from './interval.ts'

/** A point of a chart: a summary of the numbers of one interval. */
export interface Point {
  /** Start of the interval, milliseconds since the epoch. */
  readonly time: number
  readonly average: number
  readonly lowest: number
  readonly highest: number
  readonly last: number
  /** Number of summarised records, at least 1. */
  readonly count: number
}

/** Points in time order. */
export interface Series {
  readonly points: readonly Point[]
  /** The interval that each point summarises. */
  readonly interval: Interval
}

/**
 * The series with one more record. A record that arrives while points are read may already be in the series. Adding it again does
 * not change an extreme, and changes the average only slightly.
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
    // Computed without a sum or a difference, which could overflow.
    average: before.average * (before.count / count) + value / count,
    lowest: Math.min(before.lowest, value),
    highest: Math.max(before.highest, value),
    last: value,
    count,
  }
  return { interval, points: points.with(at, merged) }
}

/** The series without points before `from`. @param from milliseconds since the epoch */
export function since(series: Series, from: number): Series {
  const first = series.points.findIndex(point => point.time >= from)
  if (first === 0) return series
  return { ...series, points: first === -1 ? [] : series.points.slice(first) }
}

/**
 * How much a counter has grown in each interval, as its average: from its last value before, or its lowest one in the first interval, to its
 * last value. A counter that falls has begun at 0 again.
 */
export function growthOf({ points, interval }: Series): Series {
  const grown = points.map((point, at) => {
    const before = points[at - 1]?.last ?? point.lowest
    const { last, highest } = point
    const growth = last >= before ? last - before : Math.max(0, highest - before) + last
    const average = withDecimalsOf(growth, [before, last, highest])
    return { ...point, average, lowest: average, highest: average, last: average }
  })
  return { points: grown, interval }
}

/** The sum of rounded numbers, with as many decimals as they have. */
export function sumOf(numbers: readonly number[]): number {
  return withDecimalsOf(
    numbers.reduce((sum, number) => sum + number, 0),
    numbers,
  )
}

/** Without the digits that a sum or difference of rounded numbers has at its end. */
function withDecimalsOf(value: number, numbers: readonly number[]): number {
  const decimals = numbers.map(decimalsOf)
  return decimals.includes(undefined) ? value : Number(value.toFixed(Math.max(0, ...decimals.map(Number))))
}

/** Indexes of the points before which there is a gap. No line may be drawn over a gap. */
export function gapsOf({ points, interval }: Series): readonly number[] {
  return gapsIn(
    points.map(({ time }) => time),
    interval.length,
  )
}
