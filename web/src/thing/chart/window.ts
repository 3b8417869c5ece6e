/** The range of time that a chart shows. */
export interface TimeWindow {
  /** Milliseconds. */
  readonly span: number
  /** End, milliseconds since the epoch. If absent, the window ends now and moves with the time. */
  readonly to?: number
  /** Whether the window was chosen to show all records. */
  readonly isAll?: true
}

/** Milliseconds. */
const shortestSpan = 1_000
const longestSpan = 60 * 365 * 86_400_000

/** Widths of the first window, milliseconds. Narrow, because a few new points would be squeezed together in a wide window. */
const firstSpans = [120_000, 900_000] as const
const widestFirstSpan = 3_600_000

/** The window before the user chooses one. @param oldest time of the oldest known point of the last hour */
export function firstWindow(oldest: number | undefined, now: number): TimeWindow {
  const span = oldest === undefined ? undefined : firstSpans.find(span => now - oldest < span)
  return { span: span ?? widestFirstSpan }
}

/** A window as long as the shown window, with `time` shortly before its end. It may extend into the future. */
export function windowAt(time: number, { span }: TimeWindow, now: number): TimeWindow {
  const to = Math.ceil(time + 0.02 * span)
  return time > now ? { span, to } : windowBetween(to - span, to, now)
}

/** A window from the oldest to the newest point, or to now if that is later. Slightly wider, so that no point is on an edge. */
export function allWindow(oldest: number, newest: number, now: number): TimeWindow {
  const span = Math.max(60_000, 1.02 * (Math.max(newest, now) - oldest))
  return newest > now
    ? { span: 1.02 * span, to: Math.ceil(newest + 0.02 * span), isAll: true }
    : { span, isAll: true }
}

/** Start and end of a window, milliseconds since the epoch. */
export function edgesOf(
  { span, to }: TimeWindow,
  now: number,
): { readonly from: number; readonly to: number } {
  const end = to ?? now
  return { from: end - span, to: end }
}

/** The window between two moments. If it would end in the future, it ends now and moves with the time. */
export function windowBetween(from: number, to: number, now: number): TimeWindow {
  const span = Math.min(longestSpan, Math.max(shortestSpan, to - from))
  return to >= now ? { span } : { span, to }
}

/**
 * Zooms in or out.
 *
 * @param factor factor of the span, for example 0.5 for half the span
 * @param centre the point that does not move, from 0 (start) to 1 (end)
 */
export function zoom(shown: TimeWindow, factor: number, centre: number, now: number): TimeWindow {
  const { from, to } = edgesOf(shown, now)
  const span = Math.min(longestSpan, Math.max(shortestSpan, shown.span * factor))
  const begin = from + (to - from - span) * centre
  return windowBetween(begin, begin + span, now)
}

/** Moves the window. @param share share of the span; negative moves towards the past */
export function pan(shown: TimeWindow, share: number, now: number): TimeWindow {
  const { to } = edgesOf(shown, now)
  const end = Math.min(now, to + shown.span * share)
  return windowBetween(end - shown.span, end, now)
}
