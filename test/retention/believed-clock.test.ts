import { expect, it } from 'vitest'
import { released } from '../../src/core/time/clock.ts'
import { BelievedClock } from '../../src/retention/believed-clock.ts'

const hour = 3_600_000
const day = 24 * hour
const year = 365 * day
const noon = released + 10 * day

/** A store's clock that shows another time than the one that has passed. */
function clocks({ newest = noon, shown = noon } = {}) {
  let passed = 0
  let offset = 0
  const clock = new BelievedClock({ now: () => shown + offset + passed, newest: () => newest }, () => passed)
  return {
    clock,
    pass: (time: number) => {
      passed += time
    },
    step: (by: number) => {
      offset += by
    },
  }
}

it.each([
  ['a second', 1_000],
  ['a day', day],
  ['an hour back', -hour],
  ['ten years back', -10 * year],
])('BelievedClock follows a step of %s at once', (_, by) => {
  const { clock, step, pass } = clocks()
  step(by)
  expect(clock.now()).toBe(noon + by)
  pass(hour)
  expect(clock.now()).toBe(noon + by + hour)
})

it.each([day + 1, 2 * day, 10 * year])('BelievedClock believes a leap of %d ms after a day', by => {
  const { clock, step, pass } = clocks()
  step(by)
  expect(clock.now()).toBe(noon)
  pass(day - 1)
  expect(clock.now()).toBe(noon + day - 1)
  pass(1)
  expect(clock.now()).toBe(noon + day + by)
  pass(hour)
  expect(clock.now()).toBe(noon + day + by + hour)
})

it('BelievedClock forgets a leap that was mended, so that the next one takes a day again', () => {
  const { clock, step, pass } = clocks()
  step(10 * year)
  clock.now()
  pass(23 * hour)
  step(-10 * year)
  expect(clock.now()).toBe(noon + 23 * hour)
  step(10 * year)
  pass(2 * hour)
  expect(clock.now()).toBe(noon + 25 * hour)
})

it('BelievedClock compares the clock of a start with the newest receipt time of the store', () => {
  const { clock, pass } = clocks({ shown: noon + 10 * year })
  expect(clock.now()).toBe(noon)
  pass(hour)
  expect(clock.now()).toBe(noon + hour)
})

it('BelievedClock believes any clock of a store that has received nothing', () => {
  expect(clocks({ newest: released, shown: noon + year }).clock.now()).toBe(noon + year)
})
