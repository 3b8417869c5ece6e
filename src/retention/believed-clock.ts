import { believedAfter, believedBehind, type ReceiptClock, released } from '../core/time/clock.ts'

/** How long the server must run before it believes a clock that is ahead of the believed time, milliseconds. */
const believedAheadAfter = 86_400_000

/** The document `believed-clock`: the believed time, kept for the next start. All numbers are milliseconds. */
export interface Belief {
  /** The believed time, since 1970. */
  readonly time: number
  /** Absent if the clock was not ahead of the believed time. */
  readonly ahead?: {
    /** The earliest time that the clock has shown while it was ahead, plus the running time of the server since then. */
    readonly least: number
    /** How long the server has run with a clock that is ahead. */
    readonly ran: number
  }
}

type Clock = Pick<ReceiptClock, 'now' | 'newest' | 'behind'>

/** The first belief of a store: the clock's time, or the newest receipt time if there is one and it is earlier. */
export function firstBelief(clock: Clock): Belief {
  const newest = clock.newest()
  return { time: newest > released ? Math.min(newest, shownBy(clock)) : clock.now() }
}

/**
 * The time that decides whether data are too old (contract §4.5). It advances while the server runs. A clock that is ahead of this
 * time is believed only after the server has run for 24 h, over any number of starts. Otherwise a clock that is wrong by years for
 * an hour would expire all records. The result of `now` is never later than the clock.
 */
export class BelievedClock {
  readonly #clock: Clock
  readonly #monotonic: () => number
  #time: number
  #ahead: Belief['ahead']
  /** How long the clock has been more than `believedBehind` behind the believed time, milliseconds. */
  #behindFor = 0
  /** Time of the last call of `now` on the monotonic clock, milliseconds. */
  #at: number

  constructor(clock: Clock, { time, ahead }: Belief, monotonic: () => number = () => performance.now()) {
    this.#clock = clock
    this.#monotonic = monotonic
    this.#time = time
    this.#ahead = ahead
    this.#at = monotonic()
  }

  /** The belief to store for the next start. */
  get belief(): Belief {
    const { least = 0, ran = 0 } = this.#ahead ?? {}
    const ahead = { least: Math.floor(least), ran: Math.floor(ran) }
    return { time: Math.floor(this.#time), ...(this.#ahead && { ahead }) }
  }

  /** The believed time, milliseconds since 1970. Call this at least once an hour: the clock is checked only by these calls. */
  now(): number {
    const at = this.#monotonic()
    const passed = at - this.#at
    const shown = shownBy(this.#clock)
    this.#at = at
    this.#time += passed
    if (shown > this.#time) this.#seeAhead(shown, passed)
    else this.#seeBehind(shown, passed)
    return Math.min(this.#time, shown)
  }

  #seeAhead(shown: number, passed: number): void {
    this.#behindFor = 0
    const before = this.#ahead
    this.#ahead = before
      ? { least: Math.min(before.least + passed, shown), ran: before.ran + passed }
      : { least: shown, ran: 0 }
    if (this.#ahead.ran < believedAheadAfter) return
    this.#time = Math.max(this.#time, this.#ahead.least)
    this.#ahead = undefined
  }

  /** Ignores times before `released`: a board without a battery shows an arbitrary time until it has a network. */
  #seeBehind(shown: number, passed: number): void {
    if (shown < released) return
    if (shown < this.#time - believedBehind) {
      this.#behindFor += passed
      if (this.#behindFor < believedAfter) return
    }
    this.#behindFor = 0
    this.#ahead = undefined
    this.#time = shown
  }
}

/** The time that a store's clock shows, even while receipt times are ahead of it and do not advance. */
export function shownBy(clock: Pick<ReceiptClock, 'now' | 'behind'>): number {
  return clock.now() - clock.behind()
}
