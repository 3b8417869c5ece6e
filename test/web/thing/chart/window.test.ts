import { describe, expect, test } from 'vitest'
import {
  allWindow,
  edgesOf,
  firstWindow,
  pan,
  windowAt,
  windowBetween,
  zoom,
} from '../../../../web/src/thing/chart/window.ts'

const now = 1_000_000_000

describe('a window of time', () => {
  test('without an end ends now', () => {
    expect(edgesOf({ span: 60_000 }, now)).toEqual({ from: now - 60_000, to: now })
  })

  test('that ends in the future moves on', () => {
    expect(windowBetween(now - 5_000, now + 5_000, now)).toEqual({ span: 10_000 })
  })

  test('that was chosen stays', () => {
    expect(windowBetween(now - 9_000, now - 5_000, now)).toEqual({ span: 4_000, to: now - 5_000 })
  })
})

describe('firstWindow()', () => {
  test.each([
    [10_000, 120_000],
    [120_000, 900_000],
    [900_000, 3_600_000],
  ])('of points since %d ms is %d ms wide', (age, span) => {
    expect(firstWindow(now - age, now)).toEqual({ span })
  })

  test('of no points is an hour wide', () => {
    expect(firstWindow(undefined, now)).toEqual({ span: 3_600_000 })
  })
})

describe('windowAt()', () => {
  test('ends a little after the time, and is as wide as before', () => {
    expect(windowAt(now - 90_000, { span: 10_000 }, now)).toEqual({ span: 10_000, to: now - 89_800 })
  })
})

describe('windowAt(), of a time ahead of the clock', () => {
  test('ends after it', () => {
    expect(windowAt(now + 90_000, { span: 10_000 }, now)).toEqual({ span: 10_000, to: now + 90_200 })
  })
})

describe('allWindow()', () => {
  test('ends now', () => {
    expect(allWindow(now - 1_000_000, now - 5_000, now)).toEqual({ span: 1_020_000, isAll: true })
    expect(allWindow(now, now, now)).toEqual({ span: 60_000, isAll: true })
  })

  test('ends after a point that is ahead of the clock', () => {
    for (const oldest of [now - 1_000_000, now + 80_000]) {
      const shown = allWindow(oldest, now + 90_000, now)
      expect(shown.isAll).toBe(true)
      const { from, to } = edgesOf(shown, now)
      expect(from).toBeLessThan(oldest)
      expect(to).toBeGreaterThan(now + 90_000)
    }
  })
})

describe('zoom()', () => {
  test('keeps its centre in place', () => {
    const shown = zoom({ span: 10_000, to: now - 10_000 }, 0.5, 0.5, now)
    expect(edgesOf(shown, now)).toEqual({ from: now - 17_500, to: now - 12_500 })
  })

  test('out of one that ends now goes on ending now', () => {
    expect(zoom({ span: 10_000 }, 2, 0.5, now)).toEqual({ span: 20_000 })
  })

  test('goes no closer than a second', () => {
    expect(zoom({ span: 1_500, to: now }, 0.1, 0, now).span).toBe(1_000)
  })
})

describe('pan()', () => {
  test('into the past stops moving on', () => {
    expect(pan({ span: 10_000 }, -0.25, now)).toEqual({ span: 10_000, to: now - 2_500 })
  })

  test('back to the present moves on again', () => {
    expect(pan({ span: 10_000, to: now - 2_500 }, 0.5, now)).toEqual({ span: 10_000 })
  })
})
