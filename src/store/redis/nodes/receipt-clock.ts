import type { ClockStep, ReceiptClock } from '../../../core/time/clock.ts'
import { Listeners } from '../../listeners.ts'
import type { Follower } from '../log/follower.ts'
import type { RedisClock } from './redis-clock.ts'

/** The receipt times that Redis assigns, and the clock of Redis, as far as its replies show them. */
export class RedisReceipts implements ReceiptClock {
  steppedBack: ClockStep | undefined
  readonly #clock: RedisClock
  readonly #listeners = new Listeners<(step: ClockStep) => void>()
  readonly onSteppedBack = this.#listeners.listen
  #newest = 0
  /** `to` of the newest known step; 0 if there was no step; undefined before the first reply. */
  #knownStep: number | undefined

  constructor(clock: RedisClock, listeners: Pick<Follower['listeners'], 'onCommit'>) {
    this.#clock = clock
    listeners.onCommit(({ receivedAt }) => {
      this.#newest = receivedAt
    })
  }

  /** @param newest newest receipt time @param from, to members of the newest `ClockStep`; 0 if there was none */
  hear({ newest, from, to }: { newest: number; from: number; to: number }): void {
    this.#newest = to === this.#knownStep ? Math.max(this.#newest, newest) : newest
    if (this.#knownStep !== undefined && to !== this.#knownStep) this.#report({ from, to })
    this.#knownStep = to
  }

  now(): number {
    return Math.max(this.#clockNow(), this.#newest)
  }

  newest(): number {
    return this.#newest
  }

  behind(): number {
    return Math.max(0, this.#newest - this.#clockNow())
  }

  #clockNow(): number {
    return Math.floor(this.#clock.earliestAt(performance.now()) / 1_000)
  }

  #report(step: ClockStep): void {
    this.steppedBack = step
    for (const listener of this.#listeners) listener(step)
  }
}
