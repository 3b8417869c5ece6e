/** The clock of receipt times: the store's (contract §4.5). All times in milliseconds since 1970. */
export interface ReceiptClock {
  /** The receipt time of a write that was committed now: never before the newest one that was given. */
  now(): number
  /** The newest receipt time that was given; `released` or before if none was. */
  newest(): number
  /** By how much the clock is behind the newest receipt time, milliseconds; 0: it is not. */
  behind(): number
  /** When receipt times have gone back last, since the process began: a clock far behind them was believed. */
  readonly steppedBack: ClockStep | undefined
  /** Calls `listener` when receipt times go back; it must not throw. Returns how to stop. */
  onSteppedBack(listener: (step: ClockStep) => void): () => void
}

export interface ClockStep {
  /** The newest receipt time before. */
  readonly from: number
  /** What the clock showed. */
  readonly to: number
}

/** From so far behind on a clock is said to be behind, milliseconds. */
export const behindFrom = 60_000
/** A clock that is farther behind than this is believed after it has run so long without a step; milliseconds. */
export const believedBehind = 86_400_000
export const believedAfter = 600_000

/**
 * No clock was right before: one that shows an earlier time is that of a board without a battery, which was not set yet. A day
 * of this release or shortly before; milliseconds since 1970.
 */
export const released = Date.UTC(2026, 10, 1)
