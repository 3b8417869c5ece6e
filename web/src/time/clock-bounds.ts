/** Between which the server's clock is ahead of the browser's: milliseconds, negative where it is behind. */
export interface ClockBounds {
  readonly least: number
  readonly most: number
}

/** Milliseconds that `Date` leaves out: it has whole seconds. */
const leftOut = 1_000

/**
 * What an answer adds to the bounds. Bounds that contradict each other are of a clock that was set: the newest counts.
 *
 * @param date its header `Date`, milliseconds since the epoch
 * @param asked when the request left, by the browser's clock, milliseconds since the epoch
 * @param answered when the answer began, by the same clock
 */
export function narrowed(
  before: ClockBounds | undefined,
  date: number,
  asked: number,
  answered: number,
): ClockBounds {
  const heard = { least: date - answered, most: date + leftOut - asked }
  if (!before) return heard
  const both = { least: Math.max(before.least, heard.least), most: Math.min(before.most, heard.most) }
  return both.least <= both.most ? both : heard
}

/** What to add to the browser's clock: nothing where that may be right, since it is finer than a second. */
export function correctionOf({ least, most }: ClockBounds): number {
  return least <= 0 && most >= 0 ? 0 : (least + most) / 2
}
