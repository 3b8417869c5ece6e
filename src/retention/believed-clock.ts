import { type ReceiptClock, released } from '../core/time/clock.ts'

/** A clock that has leapt ahead by more than this is believed after as long; milliseconds. */
const believedAhead = 86_400_000

/**
 * The clock by which records are too old: the store's, but for a leap ahead of more than a day, which is believed after a day.
 * A clock that is wrong by years for a start or an hour must not cost the records (contract §4.5).
 */
export class BelievedClock {
  readonly #clock: Pick<ReceiptClock, 'now' | 'newest'>
  readonly #monotonic: () => number
  /** What was believed last, and when by the monotonic clock. */
  #believed: number
  #at: number
  #aheadSince: number | undefined

  constructor(
    clock: Pick<ReceiptClock, 'now' | 'newest'>,
    monotonic: () => number = () => performance.now(),
  ) {
    this.#clock = clock
    this.#monotonic = monotonic
    this.#at = monotonic()
    const newest = clock.newest()
    // Nothing was received yet, so nothing says which clock is right.
    this.#believed = newest > released ? newest : clock.now()
  }

  /** Milliseconds since 1970. */
  now(): number {
    const [shown, at] = [this.#clock.now(), this.#monotonic()]
    const expected = this.#believed + at - this.#at
    if (shown > expected + believedAhead) {
      this.#aheadSince ??= at
      if (at - this.#aheadSince < believedAhead) return expected
    }
    this.#aheadSince = undefined
    this.#believed = shown
    this.#at = at
    return shown
  }
}
