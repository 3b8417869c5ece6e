import { describe, expect, test } from 'vitest'
import { gapsOf, type Point, type Series, since, withRecord } from '../../../../web/src/thing/chart/series.ts'

function pointOf(time: number, value: number): Point {
  return { time, first: value, lowest: value, highest: value, last: value }
}

function seriesOf(length: number, ...times: readonly number[]): Series {
  return { points: times.map(time => pointOf(time, time)), interval: { text: `${length}ms`, length } }
}

function timesOf({ points }: Series): readonly number[] {
  return points.map(({ time }) => time)
}

describe('withRecord()', () => {
  test('puts a record in its place in time', () => {
    expect(timesOf(withRecord(seriesOf(1, 1, 3), 2, 2))).toEqual([1, 2, 3])
    expect(timesOf(withRecord(seriesOf(1, 1, 3), 4, 4))).toEqual([1, 3, 4])
    expect(timesOf(withRecord(seriesOf(1), 4, 4))).toEqual([4])
  })

  test('takes a record that it has once', () => {
    const series = seriesOf(1, 1, 2, 3)
    expect(withRecord(series, 2, 2)).toEqual(series)
  })

  test('adds a record to its interval', () => {
    const point = { time: 20, first: 4, lowest: 3, highest: 5, last: 4.5 }
    const before = { ...seriesOf(10), points: [point, pointOf(30, 1)] }
    const [high, next] = withRecord(before, 27, 10).points
    expect(high).toEqual({ time: 20, first: 4, lowest: 3, highest: 10, last: 10 })
    expect(next).toEqual(pointOf(30, 1))
    expect(withRecord(before, 29, -1).points[0]).toEqual({ ...point, lowest: -1, last: -1 })
  })

  test('begins an interval', () => {
    expect(withRecord(seriesOf(10, 20, 40), 35, 2).points).toEqual([
      pointOf(20, 20),
      pointOf(30, 2),
      pointOf(40, 40),
    ])
  })
})

describe('since()', () => {
  test('leaves out what is before', () => {
    expect(timesOf(since(seriesOf(1, 1, 2, 3), 2))).toEqual([2, 3])
    expect(timesOf(since(seriesOf(1, 1, 2, 3), 9))).toEqual([])
  })
})

describe('gapsOf()', () => {
  test('names the points before which much more time than usual is missing', () => {
    expect(gapsOf(seriesOf(1, 0, 10, 20, 31, 100, 110, 121))).toEqual([4])
  })

  test('of even steps are none', () => {
    expect(gapsOf(seriesOf(1, 0, 10, 20, 30))).toEqual([])
    expect(gapsOf(seriesOf(1, 5))).toEqual([])
  })

  test('of sparse intervals are none', () => {
    expect(gapsOf(seriesOf(60, 0, 120, 360))).toEqual([])
  })
})
