import {
  believedAfter,
  believedBehind,
  type ReceiptClock as Clock,
  type ClockStep,
  released,
} from '../core/time/clock.ts'
import { Listeners } from './listeners.ts'

/** How often the clock is looked at while nothing is written, milliseconds. */
const lookInterval = 10_000
/** By how much a clock that is being brought to the right time may differ from the monotonic one over all that time, milliseconds. */
const tolerance = 2_000

/** Since when the clock runs without a step. */
interface Run {
  /** Of the clock less the monotonic one. */
  readonly offset: number
  /** By the monotonic clock. */
  readonly since: number
}

/** Receipt times of a store that one process has alone, by the clock of the machine. */
export class ReceiptClock implements Clock {
  steppedBack: ClockStep | undefined
  readonly #wall: () => number
  readonly #monotonic: () => number
  readonly #listeners = new Listeners<(step: ClockStep) => void>()
  readonly onSteppedBack = this.#listeners.listen
  #newest = released
  /** While it is too far behind to be believed at once. */
  #run: Run | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(wall: () => number = () => Date.now(), monotonic: () => number = () => performance.now()) {
    this.#wall = wall
    this.#monotonic = monotonic
  }

  /** @param newest receipt time that the store holds; 0: none */
  start(newest: number): void {
    this.#newest = Math.max(newest, released)
    this.#timer = setInterval(() => this.look(), lookInterval).unref()
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

  /** Believes a clock that is far behind, once it has run for long enough without a step. */
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
