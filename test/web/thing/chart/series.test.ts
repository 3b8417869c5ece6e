import { describe, expect, test } from 'vitest'
import {
  gapsOf,
  growthOf,
  type Series,
  since,
  sumOf,
  withRecord,
} from '../../../../web/src/thing/chart/series.ts'
import { pointOf } from './points.ts'

function seriesOf(length: number, ...times: readonly number[]): Series {
  return { points: times.map(time => pointOf(time, time)), interval: { text: `${length}ms`, length } }
}

function timesOf({ points }: Series): readonly number[] {
  return points.map(({ time }) => time)
}

describe('growthOf()', () => {
  const counted = (lowest: number, highest: number, last: number, time: number) => {
    return { time, average: lowest, lowest, highest, last, count: 2 }
  }
  const growth = (...points: Parameters<typeof counted>[]) => {
    const { points: grown } = growthOf({ ...seriesOf(10), points: points.map(each => counted(...each)) })
    return grown.map(({ average }) => average)
  }

  test('is from the last value of the interval before, in the first from its lowest', () => {
    expect(growth([6.1, 6.3, 6.3, 0], [6.3, 6.4, 6.4, 10], [7, 7, 7, 30])).toEqual([0.2, 0.1, 0.6])
    expect(growth()).toEqual([])
  })

  test('goes on after the counter has begun at 0 again, in an interval or between two', () => {
    expect(growth([1, 5, 5, 0], [0, 8, 2, 10], [2, 3, 3, 20])).toEqual([4, 5, 1])
    expect(growth([1, 5, 5, 0], [1, 2, 2, 10])).toEqual([4, 2])
  })

  test('is as exact as numbers with an exponent are', () => {
    const [none, some] = growth([1e-9, 1e-9, 1e-9, 0], [3e-9, 3e-9, 3e-9, 10])
    expect([none, some]).toEqual([0, expect.closeTo(2e-9, 15)])
  })
})

test('sumOf() has the decimals of its numbers', () => {
  expect(sumOf([0.1, 0.2, 1])).toBe(1.3)
  expect(sumOf([])).toBe(0)
})

describe('withRecord()', () => {
  test('puts a record in its place in time', () => {
    expect(timesOf(withRecord(seriesOf(1, 1, 3), 2, 2))).toEqual([1, 2, 3])
    expect(timesOf(withRecord(seriesOf(1, 1, 3), 4, 4))).toEqual([1, 3, 4])
    expect(timesOf(withRecord(seriesOf(1), 4, 4))).toEqual([4])
  })

  test('takes a record that it has once', () => {
    const series = seriesOf(1, 1, 2, 3)
    const { points } = withRecord(series, 2, 2)
    expect(points.map(({ count: _, ...point }) => point)).toEqual(
      series.points.map(({ count: _, ...point }) => point),
    )
  })

  test('adds a record to its interval', () => {
    const point = { time: 20, average: 4, lowest: 3, highest: 5, last: 4.5, count: 2 }
    const before = { ...seriesOf(10), points: [point, pointOf(30, 1)] }
    const [high, next] = withRecord(before, 27, 10).points
    expect(high).toEqual({ time: 20, average: 6, lowest: 3, highest: 10, last: 10, count: 3 })
    expect(next).toEqual(pointOf(30, 1))
    expect(withRecord(before, 29, -2).points[0]).toEqual({
      ...point,
      average: 2,
      lowest: -2,
      last: -2,
      count: 3,
    })
  })

  test.each([
    [1.7e308, 1.7e308],
    [-1.7e308, -1.7e308],
    [1.7e308, -1.7e308],
  ])('has an average of %f and %f', (one, other) => {
    const [point] = withRecord({ ...seriesOf(10), points: [pointOf(20, one)] }, 25, other).points
    expect(point?.average).toBe(one / 2 + other / 2)
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
