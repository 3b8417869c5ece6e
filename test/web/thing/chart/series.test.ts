import { describe, expect, test } from 'vitest'
import { gapsOf, pointOf, type Series, since, withRecord } from '../../../../web/src/thing/chart/series.ts'

function seriesOf(...times: readonly number[]): Series {
  return { points: times.map(time => pointOf(time, time)) }
}

function timesOf({ points }: Series): readonly number[] {
  return points.map(({ time }) => time)
}

describe('withRecord()', () => {
  test('puts a record in its place in time', () => {
    expect(timesOf(withRecord(seriesOf(1, 3), 2, 2))).toEqual([1, 2, 3])
    expect(timesOf(withRecord(seriesOf(1, 3), 4, 4))).toEqual([1, 3, 4])
    expect(timesOf(withRecord(seriesOf(), 4, 4))).toEqual([4])
  })

  test('takes a record that it has once', () => {
    const series = seriesOf(1, 2, 3)
    expect(withRecord(series, 2, 2)).toBe(series)
    expect(timesOf(withRecord(series, 2, 7))).toEqual([1, 2, 2, 3])
  })

  test('adds a record to its interval', () => {
    const before: Series = {
      interval: 10,
      points: [{ time: 20, average: 4, lowest: 3, highest: 5, count: 2 }],
    }
    expect(withRecord(before, 27, 10).points).toEqual([
      { time: 20, average: 6, lowest: 3, highest: 10, count: 3 },
    ])
  })

  test('begins an interval', () => {
    const before: Series = { interval: 10, points: [pointOf(20, 1), pointOf(40, 1)] }
    expect(timesOf(withRecord(before, 35, 2))).toEqual([20, 30, 40])
  })
})

describe('since()', () => {
  test('leaves out what is before', () => {
    expect(timesOf(since(seriesOf(1, 2, 3), 2))).toEqual([2, 3])
    expect(timesOf(since(seriesOf(1, 2, 3), 9))).toEqual([])
  })
})

describe('gapsOf()', () => {
  test('names the points before which much more time than usual is missing', () => {
    expect(gapsOf(seriesOf(0, 10, 20, 31, 100, 110, 121))).toEqual([4])
  })

  test('of even steps are none', () => {
    expect(gapsOf(seriesOf(0, 10, 20, 30))).toEqual([])
    expect(gapsOf(seriesOf(5))).toEqual([])
  })

  test('of sparse intervals are none', () => {
    expect(gapsOf({ interval: 60, points: [pointOf(0, 1), pointOf(120, 1), pointOf(360, 1)] })).toEqual([])
  })
})
