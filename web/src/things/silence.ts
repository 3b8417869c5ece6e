import type { ThingSummary } from '../api/things.ts'

/** A filter for things that have been silent for some time. */
export interface Silence {
  readonly label: string
  /** Minimum milliseconds of silence. Infinity: the thing was never heard from. */
  readonly length: number
}

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** The first filter shows all things. */
export const silences: readonly [Silence, ...Silence[]] = [
  { label: 'All', length: 0 },
  { label: 'Silent for 10 min', length: 10 * minute },
  { label: 'Silent for 1 h', length: hour },
  { label: 'Silent for 1 day', length: day },
  { label: 'Silent for 7 days', length: 7 * day },
  { label: 'Never heard of', length: Number.POSITIVE_INFINITY },
]

/** When the thing last used its token, or was last written to: milliseconds since the epoch; undefined if never. */
export function lastHeardOf({ lastSeen, lastWrite }: ThingSummary): number | undefined {
  const times = [lastSeen, lastWrite].flatMap(text => (text ? [Date.parse(text)] : []))
  return times.length === 0 ? undefined : Math.max(...times)
}

/** @param now milliseconds since the epoch */
export function isSilent(thing: ThingSummary, { length }: Silence, now: number): boolean {
  const heard = lastHeardOf(thing)
  return heard === undefined || now - heard >= length
}
