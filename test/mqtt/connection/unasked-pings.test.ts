import { expect, it } from 'vitest'
import { UnaskedPings } from '../../../src/mqtt/connection/keep-alive.ts'

const look = 500

/** At which looks of so many a PINGRESP is due, of a client with a keep-alive of 5 s. */
function dueAt(count: number, stateAt: (second: number) => { isLimited: boolean; isIdle: boolean }) {
  const pings = new UnaskedPings(5)
  const due: number[] = []
  for (let number = 1; number <= count; number++) {
    const now = number * look
    const { isLimited, isIdle } = stateAt(now / 1_000)
    if (pings.isDue(isLimited, isIdle, now)) due.push(now / 1_000)
  }
  return due
}

it('isDue() is true twice in each keep-alive for as long as the client is not read', () => {
  expect(dueAt(25, () => ({ isLimited: true, isIdle: false }))).toEqual([3, 5.5, 8, 10.5])
})

it('isDue() is true too where the client is read for a moment, and more waits', () => {
  const stateAt = (second: number) => ({ isLimited: second % 1 === 0, isIdle: false })
  expect(dueAt(20, stateAt)).toEqual([3.5, 6, 8.5])
})

it('isDue() is never true of a client that is read', () => {
  expect(dueAt(100, () => ({ isLimited: false, isIdle: false }))).toEqual([])
  expect(dueAt(100, () => ({ isLimited: false, isIdle: true }))).toEqual([])
})

it('isDue() is not true any more once everything is read', () => {
  const stateAt = (second: number) => ({ isLimited: second < 4, isIdle: second >= 4 })
  expect(dueAt(40, stateAt)).toEqual([3])
})

it('isDue() counts from the last PINGREQ that was read', () => {
  const pings = new UnaskedPings(5)
  pings.isDue(true, false, 1_000)
  pings.answered(3_000)
  expect([3_500, 5_000, 5_500].map(now => pings.isDue(true, false, now))).toEqual([false, false, true])
})

it('isDue() is never true without a keep-alive', () => {
  const pings = new UnaskedPings(0)
  expect([1, 1e6, 1e9].map(now => pings.isDue(true, false, now))).toEqual([false, false, false])
})
