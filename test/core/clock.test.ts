import { describe, expect, it } from 'vitest'
import { createClock } from '../../src/core/clock.ts'

function clockThatShows(...times: number[]) {
  let now = times[0] ?? 0
  return { now: () => now, show: (time: number) => (now = time) }
}

describe('createClock()', () => {
  it('receive() is the wall clock as long as that goes on', () => {
    const wall = clockThatShows(1_000)
    const clock = createClock(0, wall.now)
    expect(clock.receive()).toBe(1_000)
    wall.show(2_000)
    expect(clock.receive()).toBe(2_000)
    expect(clock.isBehind()).toBe(false)
  })

  it('receive() stays where it was while the wall clock is behind', () => {
    const wall = clockThatShows(1_000)
    const clock = createClock(0, wall.now)
    clock.receive()
    wall.show(400)
    expect(clock.receive()).toBe(1_000)
    expect(clock.isBehind()).toBe(true)
    wall.show(1_001)
    expect(clock.receive()).toBe(1_001)
    expect(clock.isBehind()).toBe(false)
  })

  it('receive() is never before what the store holds', () => {
    const wall = clockThatShows(1_000)
    const clock = createClock(5_000, wall.now)
    expect(clock.isBehind()).toBe(true)
    expect(clock.receive()).toBe(5_000)
    wall.show(5_000)
    expect(clock.isBehind()).toBe(false)
  })
})
