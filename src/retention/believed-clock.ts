import { believedAfter, believedBehind, type ReceiptClock, released } from '../core/time/clock.ts'

/** How long the server runs before it believes a clock that is ahead; milliseconds. */
const believedAheadAfter = 86_400_000

/** `believed-clock`: the believed time, for the next start. All in milliseconds. */
export interface Belief {
  /** Since 1970. */
  readonly time: number
  /** Absent: the clock was not ahead. */
  readonly ahead?: {
    /** The earliest time of the clock while it was ahead, plus the running time of the server since. */
    readonly least: number
    /** How long the server has run with a clock that is ahead. */
    readonly ran: number
  }
}

type Clock = Pick<ReceiptClock, 'now' | 'newest' | 'behind'>

/** The first belief of a store: the newest receipt time, at most that of the clock; the clock if nothing was received yet. */
export function firstBelief(clock: Clock): Belief {
  const newest = clock.newest()
  return { time: newest > released ? Math.min(newest, shownBy(clock)) : clock.now() }
}

/**
 * The time by which data are too old (contract §4.5). It advances while the server runs. A clock that is ahead of it is believed
 * after 24 h of running, over any number of starts, so that a clock that is wrong by years for an hour does not cost the records. A
 * clock that is behind bounds it at once.
 */
export class BelievedClock {
  readonly #clock: Clock
  readonly #monotonic: () => number
  #time: number
  #ahead: Belief['ahead']
  /** How long the clock was more than `believedBehind` behind, milliseconds. */
  #behindFor = 0
  /** Time of the last call of `now`, by the monotonic clock. */
  #at: number

  constructor(clock: Clock, { time, ahead }: Belief, monotonic: () => number = () => performance.now()) {
    this.#clock = clock
    this.#monotonic = monotonic
    this.#time = time
    this.#ahead = ahead
    this.#at = monotonic()
  }

  /** To be stored for the next start. */
  get belief(): Belief {
    const { least = 0, ran = 0 } = this.#ahead ?? {}
    const ahead = { least: Math.floor(least), ran: Math.floor(ran) }
    return { time: Math.floor(this.#time), ...(this.#ahead && { ahead }) }
  }

  /** Milliseconds since 1970. Call it at least once an hour, since it checks the clock only then. */
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

  /** A board without a battery has an arbitrary time until it has a network, which does not refute the belief. */
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

/** The time of a store's clock, even while receipt times are ahead of it and stand still. */
export function shownBy(clock: Pick<ReceiptClock, 'now' | 'behind'>): number {
  return clock.now() - clock.behind()
}
