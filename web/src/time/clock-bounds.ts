/** Bounds of how far the server's clock is ahead of the browser's clock, milliseconds. Negative if it is behind. */
export interface ClockBounds {
  readonly least: number
  readonly most: number
}

/** The header `Date` has whole seconds, so the time may be up to this many milliseconds later. */
const leftOut = 1_000

/**
 * Narrows the bounds with an answer. If the answer contradicts the bounds, a clock was set, and only the answer counts.
 *
 * @param date the `Date` header of the answer, milliseconds since the epoch
 * @param asked when the request was sent, by the browser's clock, milliseconds since the epoch
 * @param answered when the answer began, by the browser's clock, milliseconds since the epoch
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

/** Milliseconds to add to the browser's clock. 0 if that clock may be right, because it is more precise than the header. */
export function correctionOf({ least, most }: ClockBounds): number {
  return least <= 0 && most >= 0 ? 0 : (least + most) / 2
}
