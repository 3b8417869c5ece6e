/** The clock of receipt times: the store's (contract §4.5). All times in milliseconds since 1970. */
export interface ReceiptClock {
  /** The receipt time of a write at this moment, never before the newest one. */
  now(): number
  /** The newest receipt time; `released` or before if there is none. */
  newest(): number
  /** How far the clock is behind the newest receipt time, milliseconds; 0: it is not. */
  behind(): number
  /** The last time that receipt times went back in this process, since a clock far behind them was believed. */
  readonly steppedBack: ClockStep | undefined
  /** Calls `listener` when receipt times go back; it must not throw. @returns the unsubscribe function */
  onSteppedBack(listener: (step: ClockStep) => void): () => void
}

export interface ClockStep {
  /** The newest receipt time before. */
  readonly from: number
  /** The time of the clock. */
  readonly to: number
}

/** A clock that is this far behind is reported, milliseconds. */
export const behindFrom = 60_000
/** A clock that is farther behind than this is believed after `believedAfter` without a step; milliseconds. */
export const believedBehind = 86_400_000
export const believedAfter = 600_000

/**
 * A day shortly before this release, milliseconds since 1970. A clock with an earlier time is wrong: it is that of a board without
 * a battery, and not set yet.
 */
export const released = Date.UTC(2026, 10, 1)
