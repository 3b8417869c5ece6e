import { describe, expect, test } from 'vitest'
import { lineOf } from '../../../../web/src/thing/chart/line.ts'
import type { Point } from '../../../../web/src/thing/chart/series.ts'

const interval = { text: '1s', length: 1000 }

function flat(time: number, value: number): Point {
  return { time, first: value, lowest: value, highest: value, last: value }
}

describe('lineOf()', () => {
  test('goes through first, lowest, highest and last value of a point', () => {
    const points = [{ time: 2000, first: 3, lowest: 1, highest: 9, last: 4 }]
    expect(lineOf({ points, interval }, 1)).toEqual({
      times: [2, 2, 2, 2],
      values: [3, 1, 9, 4],
      indexes: [0, 0, 0, 0],
    })
  })

  test('goes through what is the same once', () => {
    const points = [flat(1000, 50), { time: 2000, first: 20, lowest: 20, highest: 90, last: 90 }]
    expect(lineOf({ points, interval }, 10)).toEqual({
      times: [1, 2, 2],
      values: [5, 2, 9],
      indexes: [0, 1, 1],
    })
  })

  test('is broken where there is a gap', () => {
    const points = [flat(0, 1), flat(1000, 2), flat(2000, 3), flat(100_000, 4)]
    expect(lineOf({ points, interval }, 1)).toEqual({
      times: [0, 1, 2, 51, 100],
      values: [1, 2, 3, null, 4],
      indexes: [0, 1, 2, undefined, 3],
    })
  })
})
