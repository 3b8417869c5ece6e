import { describe, expect, it } from 'vitest'
import { trendPoints } from '../../../../web/src/thing/resources/trend.ts'

describe('trendPoints()', () => {
  it.each([
    [
      [1, 3, 2],
      [18, 2, 10],
    ],
    [
      [5, 5],
      [10, 10],
    ],
    [
      [1.7e308, 1.7e308],
      [10, 10],
    ],
    [
      [-1.7e308, 1.7e308, 0],
      [18, 2, 10],
    ],
    [
      [Number.MAX_VALUE, -Number.MAX_VALUE],
      [2, 18],
    ],
    [
      [Number.MAX_VALUE, 0],
      [2, 18],
    ],
    [
      [5e-324, 0],
      [2, 18],
    ],
    [
      [0, -0],
      [10, 10],
    ],
  ])('of %j are at the heights %j', (numbers, heights) => {
    const points = trendPoints(numbers).split(' ')
    expect(points.map(point => Number(point.split(',')[1]))).toEqual(heights)
    expect(points.map(point => Number(point.split(',')[0])).at(-1)).toBe(94)
  })
})
