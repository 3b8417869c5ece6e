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
/** Maximum drift from the monotonic clock, in milliseconds, that counts as slewing and not as a step of the clock. */
const tolerance = 2_000

/** A period in which the clock ran without a step. */
interface Run {
  /** Clock time minus monotonic time, milliseconds. */
  readonly offset: number
  /** Start of the period by the monotonic clock, milliseconds. */
  readonly since: number
}

/** Assigns receipt times by the clock of the machine, for a store that only one process uses. */
export class ReceiptClock implements Clock {
  steppedBack: ClockStep | undefined
  readonly #wall: () => number
  readonly #monotonic: () => number
  readonly #listeners = new Listeners<(step: ClockStep) => void>()
  readonly onSteppedBack = this.#listeners.listen
  #newest = released
  /** Set while the system clock is more than `believedBehind` behind the newest receipt time, and not yet trusted. */
  #run: Run | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(wall: () => number = () => Date.now(), monotonic: () => number = () => performance.now()) {
    this.#wall = wall
    this.#monotonic = monotonic
  }

  /** @param newest newest receipt time in the store, milliseconds; 0 if there is none */
  start(newest: number): void {
    this.#newest = Math.max(newest, released)
    this.#timer = setInterval(() => this.look(), checkInterval).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Assigns a receipt time. */
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

  /** Checks the clock. If it is far behind, it is trusted once it has run without a step for `believedAfter`. */
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
