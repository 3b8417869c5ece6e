import { describe, expect, test } from 'vitest'
import { formatAge, formatMoment, formatMomentNear, formatZone } from '../../../web/src/time/format.ts'

describe('formatAge()', () => {
  test.each([
    [0, 'now'],
    [999, 'now'],
    [1_000, '1 s ago'],
    [59_999, '59 s ago'],
    [60_000, '1 min ago'],
    [7_199_999, '1 h ago'],
    [40 * 86_400_000, '40 d ago'],
    [-7_200_000, 'in 2 h'],
  ])('of %d ms is %s', (milliseconds, text) => {
    expect(formatAge(milliseconds)).toBe(text)
  })
})

describe('formatMoment()', () => {
  const at = new Date(2026, 10, 21, 9, 5, 7).getTime()

  test('is the local date and time', () => {
    expect(formatMoment(at)).toBe('2026-11-21 09:05:07')
  })

  test('has no date near the same day', () => {
    expect(formatMomentNear(at, new Date(2026, 10, 21, 23).getTime())).toBe('09:05:07')
    expect(formatMomentNear(at, new Date(2026, 10, 22, 0).getTime())).toBe('2026-11-21 09:05:07')
  })
})

test('formatZone() is UTC or the hours and minutes from it', () => {
  expect(formatZone(Date.now())).toMatch(/^UTC(?:[+−]\d\d:\d\d)?$/)
})
