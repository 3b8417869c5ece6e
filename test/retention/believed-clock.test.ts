import { describe, expect, it } from 'vitest'
import { released } from '../../src/core/time/clock.ts'
import { type Belief, BelievedClock, firstBelief } from '../../src/retention/believed-clock.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const year = 365 * day
const noon = released + 10 * day
/** As often as it is kept. */
const keepEvery = 10 * minute

/** A server and its store, whose clock shows another time than the right one. All in milliseconds. */
class Machine {
  /** The right time. */
  right = noon
  /** How far the clock is ahead. */
  offset = 0
  /** Of the store. */
  newest: number
  clock: BelievedClock
  #kept: Belief
  #ran = 0

  constructor({ newest = noon, offset = 0 } = {}) {
    this.newest = newest
    this.offset = offset
    this.#kept = firstBelief(this.#storeClock)
    this.clock = this.#open()
  }

  /** What it shows. */
  get shown(): number {
    return this.right + this.offset
  }

  receive(): void {
    this.newest = Math.max(this.newest, this.shown)
  }

  /** Time goes by, in which the belief is kept as often as it is. */
  run(time: number): void {
    for (let left = time; left > 0; left -= keepEvery) {
      const passed = Math.min(left, keepEvery)
      this.right += passed
      this.#ran += passed
      this.clock.now()
      if (passed === keepEvery) this.#kept = JSON.parse(JSON.stringify(this.clock.belief))
    }
  }

  /** It is killed, and started after so long. @param offset of its clock then */
  restart(off = 0, offset = this.offset): void {
    this.right += off
    this.offset = offset
    this.clock = this.#open()
    this.clock.now()
  }

  /** How far what is believed lies behind the right time; ahead of it: negative. */
  get lag(): number {
    return this.right - this.clock.now()
  }

  #open(): BelievedClock {
    return new BelievedClock(this.#storeClock, this.#kept, () => this.#ran)
  }

  get #storeClock() {
    return {
      now: () => Math.max(this.shown, this.newest),
      newest: () => this.newest,
      behind: () => Math.max(0, this.newest - this.shown),
    }
  }
}

describe('BelievedClock of one run', () => {
  it.each([1_000, hour, day, day + 1, 10 * year])('believes a leap of %d ms after a day', by => {
    const machine = new Machine()
    machine.offset = by
    expect(machine.lag).toBe(0)
    machine.run(day - 1)
    expect(machine.lag).toBe(0)
    machine.run(1)
    expect(machine.lag).toBe(-by)
    machine.run(hour)
    expect(machine.lag).toBe(-by)
  })

  it.each([1_000, hour, day])('follows a clock that steps back by %d ms at once', by => {
    const machine = new Machine()
    machine.offset = -by
    expect(machine.lag).toBe(by)
    machine.offset = 0
    machine.run(hour)
    expect(machine.lag).toBe(by)
  })

  it('is bounded at once by a clock that is far behind, and follows it after 10 minutes', () => {
    const machine = new Machine({ newest: noon + year })
    machine.offset = -2 * day
    expect(machine.lag).toBe(2 * day)
    machine.run(10 * minute - 1)
    machine.offset = 0
    expect(machine.lag).toBe(0)
    machine.offset = -2 * day
    machine.run(11 * minute)
    machine.offset = 0
    expect(machine.lag).toBe(2 * day)
  })

  it('is bounded by a clock of before the release, and never follows it', () => {
    const machine = new Machine()
    machine.offset = -11 * day
    machine.run(hour)
    expect(machine.lag).toBe(11 * day)
    machine.offset = 0
    expect(machine.lag).toBe(0)
  })

  it('forgets a leap that was mended, so that the next one takes a day again', () => {
    const machine = new Machine()
    machine.offset = 10 * year
    machine.run(23 * hour)
    machine.offset = 0
    expect(machine.lag).toBe(0)
    machine.offset = 10 * year
    machine.run(23 * hour)
    expect(machine.lag).toBe(0)
  })

  it('believes of a clock that is ahead the least that it has shown', () => {
    const machine = new Machine()
    machine.offset = 10 * year
    machine.run(12 * hour)
    machine.offset = hour
    machine.run(6 * hour)
    machine.offset = 20 * year
    machine.run(6 * hour + 10 * minute)
    expect(machine.lag).toBe(-hour)
  })
})

describe('firstBelief()', () => {
  it.each([
    ['the clock of a store that has received nothing', { newest: released, offset: year }, -year],
    ['the newest receipt time, where the clock is ahead', { newest: noon - hour, offset: year }, hour],
    ['the clock, where that is behind the newest receipt time', { newest: noon + year }, 0],
  ])('is %s', (_, setup, lag) => {
    expect(new Machine(setup).lag).toBe(lag)
  })
})

describe('BelievedClock over restarts', () => {
  it.each([
    ['ahead by 40 days for an hour, right again', [40 * day, 0]],
    ['ahead by 26 h for an hour, right again', [26 * hour, 0]],
    ['ahead by 40 days, three times', [40 * day, 40 * day, 40 * day, 0]],
    ['ahead by 23 h more at each start', [23 * hour, 46 * hour, 69 * hour, 0]],
    ['ahead by an hour more at each start', Array.from({ length: 23 }, (_, index) => (index + 1) * hour)],
    ['of 1970, ahead, right', [-noon, 40 * day, 0]],
    ['a month behind for minutes, ahead, right', [-9 * day, 40 * day, 0]],
  ])('is never ahead of the right time, where the clock was %s', (_, offsets) => {
    const machine = new Machine()
    for (const offset of offsets) {
      machine.restart(1_000, offset)
      expect(machine.lag).toBeGreaterThanOrEqual(0)
      machine.run(1_000)
      machine.receive()
      machine.run(offset < 0 ? minute : hour - minute)
      expect(machine.lag).toBeGreaterThanOrEqual(0)
    }
  })

  it('believes after a day the clock of a server that was off for a month', () => {
    const machine = new Machine()
    machine.restart(30 * day)
    expect(machine.lag).toBe(30 * day)
    machine.run(day - minute)
    expect(machine.lag).toBe(30 * day)
    machine.run(10 * minute)
    expect(machine.lag).toBe(0)
  })

  it('believes it too where that server is restarted every day', () => {
    const machine = new Machine()
    machine.restart(30 * day)
    for (let days = 0; days < 2; days++) {
      machine.run(23 * hour)
      machine.restart(hour)
    }
    expect(machine.lag).toBe(2 * hour)
  })

  it.each([
    ['runs for one hour in two days', hour, 47 * hour, 0, 116 * day],
    ['is off for 10 hours a day', 14 * hour, 10 * hour, 0, 31 * hour],
    [
      'is off for 10 hours a day, and starts with the time of its end',
      14 * hour,
      10 * hour,
      10 * hour,
      31 * hour,
    ],
    ['is off for 3 days, and starts with the time of its build', 3 * hour, 69 * hour, year, 60 * day],
    ['is off for 3 days, and starts in 1970', 3 * hour, 69 * hour, noon, 60 * day],
    ['is killed every hour', hour, 1_000, 0, 10 * hour],
  ])('goes on, behind the right time, where a server %s', (_, on, off, behind, most) => {
    const machine = new Machine()
    for (const end = noon + year; machine.right < end; ) {
      machine.run(on - minute)
      machine.receive()
      expect(machine.lag).toBeGreaterThanOrEqual(0)
      expect(machine.lag).toBeLessThanOrEqual(most)
      machine.restart(off, -behind)
      expect(machine.lag).toBeGreaterThanOrEqual(0)
      machine.run(minute)
      machine.offset = 0
    }
  })
})
