import { describe, expect, it } from 'vitest'
import { type ClockBounds, correctionOf, narrowed } from '../../../web/src/time/clock-bounds.ts'

const begin = Date.UTC(2026, 10, 21)

/** What answers say to a browser whose clock is `behind`: each at a millisecond of the server's day, under way for so long. */
function heard(behind: number, answers: readonly (readonly [at: number, underWay: number])[]): ClockBounds {
  const bounds = answers.reduce<ClockBounds | undefined>((before, [at, underWay]) => {
    const date = Math.floor((begin + at) / 1000) * 1000
    const asked = begin + at - behind - underWay / 2
    return narrowed(before, date, asked, asked + underWay)
  }, undefined)
  if (!bounds) throw new Error('no answer')
  return bounds
}

describe('the correction of the clock', () => {
  it.each([0, 40, -300])('is none for a clock that may be right: %i ms off', behind => {
    expect(
      correctionOf(
        heard(behind, [
          [500, 20],
          [400, 10],
        ]),
      ),
    ).toBe(0)
  })

  it.each([3_600_000, 30_000, -1_200_000, 2_000, -2_000])(
    'is within a second for one that is off by %i ms',
    behind => {
      const correction = correctionOf(heard(behind, [[999, 20]]))
      expect(Math.abs(correction - behind)).toBeLessThan(1000)
    },
  )

  it('comes closer with each answer', () => {
    const correction = correctionOf(
      heard(30_000, [
        [20, 10],
        [1_990, 10],
        [3_500, 4_000],
      ]),
    )
    expect(Math.abs(correction - 30_000)).toBeLessThan(20)
  })

  it('follows a clock that was set', () => {
    const date = begin + 5_000
    const bounds = narrowed(heard(30_000, [[20, 10]]), date, date + 500, date + 510)
    expect(correctionOf(bounds)).toBe(0)
  })
})
