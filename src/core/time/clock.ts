/** The clock of receipt times, which belongs to the store (contract §4.5). All times are milliseconds since 1970. */
export interface ReceiptClock {
  /** The receipt time of a write at this moment; never earlier than the newest receipt time. */
  now(): number
  /** The newest receipt time; `released` or an earlier time if there is no receipt time yet. */
  newest(): number
  /** How far the clock is behind the newest receipt time, milliseconds; 0 if it is not behind. */
  behind(): number
  /** The latest step back of receipt times in this process. They step back once a clock that is far behind is trusted. */
  readonly steppedBack: ClockStep | undefined
  /** Calls `listener`, which must not throw, when receipt times step back. @returns the unsubscribe function */
  onSteppedBack(listener: (step: ClockStep) => void): () => void
}

export interface ClockStep {
  /** The newest receipt time before the step. */
  readonly from: number
  /** The time of the clock, to which receipt times stepped back. */
  readonly to: number
}

/** A clock that is at least this far behind the newest receipt time is reported; milliseconds. */
export const behindFrom = 60_000
/** If a clock is farther behind than this, it is trusted only after `believedAfter` without a jump; both in milliseconds. */
export const believedBehind = 86_400_000
export const believedAfter = 600_000

/**
 * A day shortly before this release, milliseconds since 1970. A clock that shows an earlier time is wrong: for example, a board
 * without a battery has not set its clock yet.
 */
export const released = Date.UTC(2026, 10, 1)
