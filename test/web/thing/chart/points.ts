import type { Point } from '../../../../web/src/thing/chart/series.ts'

/** A point of one record. */
export function pointOf(time: number, value: number): Point {
  return { time, average: value, lowest: value, highest: value, last: value, count: 1 }
}
