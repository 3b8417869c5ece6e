import { describe, expect, test } from 'vitest'
import { intervalFor, intervalText, mostPoints } from '../../../../web/src/thing/chart/interval.ts'

const minute = 60_000
const day = 1_440 * minute

describe('intervalFor()', () => {
  test.each([
    [minute, '1s'],
    [15 * minute, '2s'],
    [60 * minute, '10s'],
    [day, '5m'],
    [7 * day, '30m'],
    [30 * day, '2h'],
    [365 * day, '1d'],
  ])('of %d ms is %s', (span, text) => {
    expect(intervalText(intervalFor(span))).toBe(text)
  })

  test('leaves at most 600 points of any span', () => {
    for (let span = 1_000; span < 60 * 365 * day; span *= 1.3) {
      expect(span / intervalFor(span)).toBeLessThanOrEqual(mostPoints)
    }
  })
})
