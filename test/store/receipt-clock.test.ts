import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type ClockStep, released } from '../../src/core/time/clock.ts'
import { ReceiptClock } from '../../src/store/receipt-clock.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const year = 365 * 24 * hour
/** What is right. */
const noon = Date.parse('2026-11-25T12:00:00Z')

/** A machine's clock, which can be set, and one that cannot. */
class Machine {
  #wall: number
  #monotonic = 5_000

  constructor(wall: number) {
    this.#wall = wall
  }

  wall = () => this.#wall
  monotonic = () => this.#monotonic

  set(wall: number): void {
    this.#wall = wall
  }

  /** Time goes by in steps of a second, of which the wall clock counts so much. */
  pass(milliseconds: number, perSecond = second): void {
    for (let left = milliseconds; left > 0; left -= second) {
      this.#wall += perSecond
      this.#monotonic += second
      vi.advanceTimersByTime(second)
    }
  }
}

let clock: ReceiptClock
let steps: ClockStep[]

/** @param newest receipt time that the store holds */
function start(shown: number, newest = 0): Machine {
  const machine = new Machine(shown)
  clock = new ReceiptClock(machine.wall, machine.monotonic)
  clock.onSteppedBack(step => steps.push(step))
  clock.start(newest)
  return machine
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  steps = []
})
afterEach(() => {
  clock.stop()
  vi.useRealTimers()
})

describe('ReceiptClock', () => {
  it('gives what the clock shows as long as that goes on', () => {
    const machine = start(noon)
    expect([clock.receive(), clock.now(), clock.behind()]).toEqual([noon, noon, 0])
    machine.set(noon + 1)
    expect([clock.now(), clock.receive()]).toEqual([noon + 1, noon + 1])
  })

  it('never gives a time before what the store holds', () => {
    const machine = start(noon, noon + 5)
    expect([clock.receive(), clock.now(), clock.behind()]).toEqual([noon + 5, noon + 5, 5])
    machine.set(noon + 6)
    expect([clock.receive(), clock.behind()]).toEqual([noon + 6, 0])
  })

  it('now() promises no time to those who ask: what was only asked for holds back no receipt time', () => {
    const machine = start(noon)
    expect(clock.now()).toBe(noon)
    machine.set(noon - hour)
    expect(clock.receive()).toBe(noon - hour)
  })

  it.each([
    ['2 ms', 2],
    ['a minute', minute],
    ['23 h', 23 * hour],
    ['24 h', 24 * hour],
  ])('stays where it is while the clock is %s behind, however long', (_, behind) => {
    const machine = start(noon)
    clock.receive()
    machine.set(noon - behind)
    expect([clock.receive(), clock.now(), clock.behind()]).toEqual([noon, noon, behind])
    machine.set(noon - behind)
    for (let minutes = 1; minutes * minute < behind && minutes < 60; minutes++) {
      machine.pass(minute)
      expect([clock.receive(), clock.behind()]).toEqual([noon, behind - minutes * minute])
    }
    machine.set(noon + 1)
    expect([clock.receive(), clock.behind()]).toEqual([noon + 1, 0])
    expect([steps, clock.steppedBack]).toEqual([[], undefined])
  })

  it('believes a clock that was 10 years ahead and is right, after 10 minutes without a step, and says so once', () => {
    const ahead = noon + 10 * year
    const machine = start(ahead)
    expect(clock.receive()).toBe(ahead)
    machine.set(noon)
    machine.pass(10 * minute - second)
    expect([clock.receive(), clock.now(), clock.behind()]).toEqual([
      ahead,
      ahead,
      10 * year - (10 * minute - second),
    ])
    expect([steps, clock.steppedBack]).toEqual([[], undefined])
    machine.pass(20 * second)
    const [step, ...more] = steps
    expect(more).toEqual([])
    expect(step?.from).toBe(ahead)
    expect(step?.to).toBeGreaterThanOrEqual(noon + 10 * minute)
    expect(step?.to).toBeLessThanOrEqual(machine.wall())
    expect(clock.steppedBack).toEqual(step)
    expect([clock.receive(), clock.now(), clock.behind()]).toEqual([machine.wall(), machine.wall(), 0])
    machine.pass(hour)
    expect(clock.receive()).toBe(machine.wall())
    expect(steps).toHaveLength(1)
  })

  it('believes it likewise where the store was opened with a newest receipt time ahead, and without a write', () => {
    const ahead = noon + 10 * year
    const machine = start(noon, ahead)
    expect([clock.now(), clock.behind()]).toEqual([ahead, 10 * year])
    machine.pass(10 * minute + 10 * second)
    expect(steps).toHaveLength(1)
    expect(clock.now()).toBe(machine.wall())
  })

  it('believes it with the first write that comes 10 minutes after the first one that found it behind', () => {
    const machine = start(noon + 10 * year)
    clock.receive()
    clock.stop()
    machine.set(noon)
    clock.receive()
    machine.pass(10 * minute - second)
    expect(clock.receive()).toBe(noon + 10 * year)
    machine.pass(second)
    expect(clock.receive()).toBe(machine.wall())
    expect(steps).toEqual([{ from: noon + 10 * year, to: machine.wall() }])
  })

  it.each([
    ['forwards', minute],
    ['back', -minute],
  ])('counts the 10 minutes anew from a step %s', (_, by) => {
    const ahead = noon + 10 * year
    const machine = start(ahead)
    clock.receive()
    machine.set(noon)
    for (let stepped = 0; stepped < 3; stepped++) {
      machine.pass(9 * minute)
      machine.set(machine.wall() + by)
      expect(clock.receive()).toBe(ahead)
    }
    machine.pass(10 * minute - second)
    expect([clock.receive(), steps]).toEqual([ahead, []])
    machine.pass(20 * second)
    expect([clock.receive(), steps.length]).toEqual([machine.wall(), 1])
  })

  it('counts them anew too where the clock was right for a moment in between', () => {
    const ahead = noon + 10 * year
    const machine = start(ahead)
    clock.receive()
    machine.set(noon)
    machine.pass(9 * minute)
    machine.set(ahead)
    machine.pass(10 * second)
    machine.set(noon + 9 * minute + 10 * second)
    machine.pass(10 * minute - second)
    expect(clock.now()).toBeGreaterThanOrEqual(ahead)
    expect(steps).toEqual([])
  })

  it('takes a clock that is slowly brought to the right time for one that did not step', () => {
    const ahead = noon + 10 * year
    const machine = start(ahead)
    clock.receive()
    machine.set(noon)
    // As fast as NTP does it.
    machine.pass(10 * minute + 10 * second, second + 0.5)
    expect(steps).toHaveLength(1)
    expect(clock.receive()).toBe(machine.wall())
  })

  it('does not believe a clock that runs at another speed than time', () => {
    const machine = start(noon + 10 * year)
    clock.receive()
    machine.set(noon)
    machine.pass(30 * minute, 1.1 * second)
    expect(steps).toEqual([])
  })

  it.each([
    ['of 1970', 0],
    ['of the day before the release', released - 24 * hour],
  ])('never believes a clock %s, of a store that holds something or a new one', (_, shown) => {
    for (const newest of [noon, 0]) {
      const machine = start(shown, newest)
      const expected = newest || released
      expect([clock.receive(), clock.now()]).toEqual([expected, expected])
      machine.pass(hour)
      expect([clock.receive(), clock.behind()]).toEqual([expected, expected - machine.wall()])
      expect([steps, clock.steppedBack]).toEqual([[], undefined])
      clock.stop()
    }
  })

  it('gives the right time as soon as a clock that was of 1970 shows it, which is no step back', () => {
    for (const newest of [noon - hour, 0]) {
      const machine = start(0, newest)
      clock.receive()
      machine.pass(minute)
      machine.set(noon)
      expect([clock.receive(), clock.now(), clock.behind()]).toEqual([noon, noon, 0])
      machine.pass(hour)
      expect([clock.receive(), clock.behind(), steps]).toEqual([noon + hour, 0, []])
      clock.stop()
    }
  })

  it('is not led astray by a clock of 1970 that is 10 years ahead then, and right at last', () => {
    const machine = start(0)
    expect(clock.receive()).toBe(released)
    machine.set(noon + 10 * year)
    expect(clock.receive()).toBe(noon + 10 * year)
    machine.set(0)
    machine.pass(hour)
    expect(clock.receive()).toBe(noon + 10 * year)
    machine.set(noon)
    machine.pass(10 * minute + 10 * second)
    expect([clock.receive(), steps.length]).toEqual([machine.wall(), 1])
  })

  it('steps back again, and says so again, where the clock was wrong again', () => {
    const machine = start(noon)
    for (let wrong = 1; wrong <= 2; wrong++) {
      machine.set(noon + 10 * year)
      clock.receive()
      machine.set(noon)
      machine.pass(11 * minute)
      expect(steps).toHaveLength(wrong)
      expect(clock.receive()).toBe(machine.wall())
    }
    expect(clock.steppedBack).toEqual(steps[1])
  })

  it('tells nobody who does not listen any more', () => {
    const machine = start(noon, noon + 10 * year)
    const late: ClockStep[] = []
    const stop = clock.onSteppedBack(step => late.push(step))
    stop()
    machine.pass(11 * minute)
    expect([steps.length, late]).toEqual([1, []])
  })
})
