import { describe, expect, test } from 'vitest'
import { dotsOf, lineOf } from '../../../../web/src/thing/chart/line.ts'
import { pointOf } from './points.ts'

const interval = { text: '1 s', length: 1000 }

describe('lineOf()', () => {
  test('goes through the averages, with the lowest and highest values beside it', () => {
    const wide = { time: 2000, average: 40, lowest: 10, highest: 90, last: 30, count: 9 }
    expect(lineOf({ points: [pointOf(1000, 50), wide], interval }, 10)).toEqual({
      times: [1, 2],
      averages: [5, 4],
      lowests: [5, 1],
      highests: [5, 9],
      indexes: [0, 1],
    })
  })

  test('is broken where there is a gap, and so is the band', () => {
    const points = [pointOf(0, 1), pointOf(1000, 2), pointOf(2000, 3), pointOf(100_000, 4)]
    const values = [1, 2, 3, null, 4]
    expect(lineOf({ points, interval }, 1)).toEqual({
      times: [0, 1, 2, 51, 100],
      averages: values,
      lowests: values,
      highests: values,
      indexes: [0, 1, 2, undefined, 3],
    })
  })
})

describe('dotsOf()', () => {
  test.each<[string, number[], (number | null)[], number[]]>([
    ['points as close as pixels', [0, 1, 2, 3], [1, 1, 1, 1], []],
    ['points 8 pixels apart', [0, 8, 16], [1, 1, 1], []],
    ['points further apart', [0, 9, 18], [1, 1, 1], [0, 1, 2]],
    ['two that are close among others', [0, 50, 53, 100], [1, 1, 1, 1], [0, 1, 2, 3]],
    ['both sides of a stretch without values', [0, 1, 2, 20, 21], [1, 1, 1, 1, 1], [2, 3]],
    ['both sides of a wide gap', [0, 1, 10, 20, 21], [1, 1, null, 1, 1], [1, 3]],
    ['the begin and the end of what fills no chart', [10, 11, 12], [1, 1, 1], [0, 2]],
    ['what reaches beyond the edges', [-20, -2, 0, 1, 40], [1, 1, 1, 1, 1], [0, 1, 3, 4]],
    ['one alone', [5], [1], [0]],
    ['one between two gaps', [0, 1, 2, 3, 4, 5], [1, 1, null, 1, null, 1], [3, 5]],
    ['nothing', [], [], []],
  ])('of %s', (_, places, values, dots) => {
    expect(dotsOf(places, values, (places.at(-1) ?? 0) + (places[0] ?? 0), 8)).toEqual(dots)
  })
})
