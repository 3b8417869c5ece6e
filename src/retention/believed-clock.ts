import { believedAfter, believedBehind, type ReceiptClock, released } from '../core/time/clock.ts'

/** For how long the server runs before it believes a clock that is ahead; milliseconds. */
const believedAheadAfter = 86_400_000

/** `believed-clock`: what is known of the time, for the next start. All in milliseconds. */
export interface Belief {
  /** Since 1970. */
  readonly time: number
  /** Absent: the clock was not ahead. */
  readonly ahead?: {
    /** The least that the clock has shown while it was ahead, carried on by the time that the server has run. */
    readonly least: number
    /** For how long the server has run with a clock that is ahead. */
    readonly ran: number
  }
}

type Clock = Pick<ReceiptClock, 'now' | 'newest' | 'behind'>

/**
 * The belief of a store that has none yet: the newest receipt time, and nothing that the clock has not reached. Where nothing
 * was received, nothing says which clock is right.
 */
export function firstBelief(clock: Clock): Belief {
  const newest = clock.newest()
  return { time: newest > released ? Math.min(newest, shownBy(clock)) : clock.now() }
}

/**
 * The time by which data are too old (contract §4.5). It goes on with the time that the server runs. A clock that is ahead of
 * it is believed after 24 h of running, in however many starts: a clock that is wrong by years for a start or an hour must not
 * cost the records. A clock that is behind it bounds it at once.
 */
export class BelievedClock {
  readonly #clock: Clock
  readonly #monotonic: () => number
  #time: number
  #ahead: Belief['ahead']
  /** For how long the clock was too far behind to be followed at once, milliseconds. */
  #behindFor = 0
  /** Of the newest look, by the monotonic clock. */
  #at: number

  constructor(clock: Clock, { time, ahead }: Belief, monotonic: () => number = () => performance.now()) {
    this.#clock = clock
    this.#monotonic = monotonic
    this.#time = time
    this.#ahead = ahead
    this.#at = monotonic()
  }

  /** To be kept for the next start. */
  get belief(): Belief {
    const { least = 0, ran = 0 } = this.#ahead ?? {}
    const ahead = { least: Math.floor(least), ran: Math.floor(ran) }
    return { time: Math.floor(this.#time), ...(this.#ahead && { ahead }) }
  }

  /** Milliseconds since 1970. To be called at least once an hour: what the clock shows in between is not seen. */
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

  /** A board without a battery shows any time before its network is there: that says nothing against what was believed. */
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

/** What the clock of a store shows, also where receipt times are ahead of it and stand still. */
export function shownBy(clock: Pick<ReceiptClock, 'now' | 'behind'>): number {
  return clock.now() - clock.behind()
}
