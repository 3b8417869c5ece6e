import { beforeEach, expect, test, vi } from 'vitest'
import { RedisClock } from '../../../../src/store/redis/nodes/redis-clock.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
  return () => void vi.useRealTimers()
})

/** Microseconds by which Redis' clock is ahead of the monotonic one. */
const ahead = 1_790_000_000_000_000

/** Of a reply that took so many milliseconds to come. */
function hear(clock: RedisClock, way: number): void {
  clock.hear(ahead + (performance.now() - way) * 1_000)
}

function error(clock: RedisClock, time = performance.now()): number {
  return clock.earliestAt(time) - ahead - time * 1_000
}

test('earliestAt() is late by the way of the quickest reply, and never early', () => {
  const clock = new RedisClock()
  for (const way of [30, 2, 80]) hear(clock, way)
  expect(error(clock)).toBeCloseTo(-2_000, -1)
  // However slow Redis' clock is.
  expect(error(clock, performance.now() + 5_000)).toBeCloseTo(-7_000, -1)
  vi.advanceTimersByTime(1_000)
  hear(clock, 80)
  expect(error(clock)).toBeCloseTo(-3_000, -1)
})

test('earliestAt() forgets within 10 s that Redis was ahead', () => {
  const clock = new RedisClock()
  clock.hear(ahead + 60_000_000)
  vi.advanceTimersByTime(5_000)
  hear(clock, 1)
  expect(error(clock)).toBeGreaterThan(0)
  vi.advanceTimersByTime(5_001)
  hear(clock, 1)
  expect(error(clock)).toBeCloseTo(-1_000, -1)
})

test('isKnown is false until it was heard of, 10 s after, and when it is to be forgotten', () => {
  const clock = new RedisClock()
  expect(clock.isKnown).toBe(false)
  hear(clock, 1)
  expect(clock.isKnown).toBe(true)
  vi.advanceTimersByTime(10_000)
  expect(clock.isKnown).toBe(false)
  hear(clock, 1)
  clock.forget()
  expect(clock.isKnown).toBe(false)
})
