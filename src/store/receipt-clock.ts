import {
  believedAfter,
  believedBehind,
  type ReceiptClock as Clock,
  type ClockStep,
  released,
} from '../core/time/clock.ts'
import { Listeners } from './listeners.ts'

/** How often the clock is checked while nothing is written, milliseconds. */
const checkInterval = 10_000
/** By how much a clock that is slewed may drift from the monotonic clock and still count as without a step, milliseconds. */
const tolerance = 2_000

/** A time in which the clock ran without a step. */
interface Run {
  /** The clock minus the monotonic clock, milliseconds. */
  readonly offset: number
  /** Start of the run by the monotonic clock. */
  readonly since: number
}

/** Receipt times by the clock of the machine, for a store that one process has alone. */
export class ReceiptClock implements Clock {
  steppedBack: ClockStep | undefined
  readonly #wall: () => number
  readonly #monotonic: () => number
  readonly #listeners = new Listeners<(step: ClockStep) => void>()
  readonly onSteppedBack = this.#listeners.listen
  #newest = released
  /** Set while the clock is too far behind to be believed at once. */
  #run: Run | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(wall: () => number = () => Date.now(), monotonic: () => number = () => performance.now()) {
    this.#wall = wall
    this.#monotonic = monotonic
  }

  /** @param newest newest receipt time in the store; 0: none */
  start(newest: number): void {
    this.#newest = Math.max(newest, released)
    this.#timer = setInterval(() => this.look(), checkInterval).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Gives a receipt time. */
  receive(): number {
    const now = this.#wall()
    if (now >= this.#newest) this.#newest = now
    else if (now < this.#newest - believedBehind) this.look()
    return this.#newest
  }

  now(): number {
    return Math.max(this.#wall(), this.#newest)
  }

  newest(): number {
    return this.#newest
  }

  behind(): number {
    return Math.max(0, this.#newest - this.#wall())
  }

  /** Believes a clock that is far behind if it has run without a step for `believedAfter`. */
  look(): void {
    const wall = this.#wall()
    if (wall < released || wall >= this.#newest - believedBehind) {
      this.#run = undefined
      return
    }
    const now = this.#monotonic()
    const offset = wall - now
    if (!this.#run || Math.abs(offset - this.#run.offset) > tolerance) this.#run = { offset, since: now }
    if (now - this.#run.since >= believedAfter) this.#stepBack(wall)
  }

  #stepBack(to: number): void {
    const step = { from: this.#newest, to }
    this.#newest = to
    this.#run = undefined
    this.steppedBack = step
    for (const listener of this.#listeners) listener(step)
  }
}
