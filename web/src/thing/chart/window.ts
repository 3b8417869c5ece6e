/** The stretch of time that a chart shows. */
export interface TimeWindow {
  /** Milliseconds. */
  readonly span: number
  /** Milliseconds since the epoch; without it, it ends now and moves on. */
  readonly to?: number
  /** It was made to show all that there is. */
  readonly isAll?: true
}

/** Milliseconds. */
const shortestSpan = 1_000
const longestSpan = 60 * 365 * 86_400_000

/** Until the person chooses another: what is young would be squeezed into the end of a wider one. Milliseconds. */
const firstSpans = [120_000, 900_000] as const
const widestFirstSpan = 3_600_000

/** What is shown until the person chooses. @param oldest time of the oldest known point of the last hour */
export function firstWindow(oldest: number | undefined, now: number): TimeWindow {
  const span = oldest === undefined ? undefined : firstSpans.find(span => now - oldest < span)
  return { span: span ?? widestFirstSpan }
}

/** A stretch as long as the one shown, at the end of which `time` is, a little before the edge; it may be in the future. */
export function windowAt(time: number, { span }: TimeWindow, now: number): TimeWindow {
  const to = Math.ceil(time + 0.02 * span)
  return time > now ? { span, to } : windowBetween(to - span, to, now)
}

/** All from the oldest to the newest point, or to now if that is later. A little more, so that no point is on an edge. */
export function allWindow(oldest: number, newest: number, now: number): TimeWindow {
  const span = Math.max(60_000, 1.02 * (Math.max(newest, now) - oldest))
  return newest > now
    ? { span: 1.02 * span, to: Math.ceil(newest + 0.02 * span), isAll: true }
    : { span, isAll: true }
}

/** Begin and end in milliseconds since the epoch. */
export function edgesOf(
  { span, to }: TimeWindow,
  now: number,
): { readonly from: number; readonly to: number } {
  const end = to ?? now
  return { from: end - span, to: end }
}

/** What lies between two moments; one that ends in the future ends now, and moves on. */
export function windowBetween(from: number, to: number, now: number): TimeWindow {
  const span = Math.min(longestSpan, Math.max(shortestSpan, to - from))
  return to >= now ? { span } : { span, to }
}

/**
 * Shows less or more.
 *
 * @param factor of the span: 0.5 shows half of it
 * @param centre what stays in its place, 0 (begin) to 1 (end)
 */
export function zoom(shown: TimeWindow, factor: number, centre: number, now: number): TimeWindow {
  const { from, to } = edgesOf(shown, now)
  const span = Math.min(longestSpan, Math.max(shortestSpan, shown.span * factor))
  const begin = from + (to - from - span) * centre
  return windowBetween(begin, begin + span, now)
}

/** Moves. @param share of the span; negative is earlier */
export function pan(shown: TimeWindow, share: number, now: number): TimeWindow {
  const { to } = edgesOf(shown, now)
  const end = Math.min(now, to + shown.span * share)
  return windowBetween(end - shown.span, end, now)
}
