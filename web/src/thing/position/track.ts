import { serverTime } from '../../time/clock.ts'
import { type Fix, fixAt, fixOf } from './fix.ts'
import { gapsIn } from './gaps.ts'

/** The positions of a thing in a range of time. */
export interface Track {
  /** Oldest first. */
  readonly fixes: readonly Fix[]
  /** Milliseconds between the fixes of the thinned part; absent if no part is thinned. */
  readonly every?: number
  /** Datetime of the first fix after the thinned part, milliseconds; absent if no part is thinned. */
  readonly wholeFrom?: number
}

/** The part of `Api` that is needed to read a track. */
export interface Pages {
  getPage<T>(path: string, signal: AbortSignal): Promise<{ readonly body: T; readonly next?: string }>
}

export interface TrackRange {
  readonly label: string
  /** Milliseconds before now; absent: the whole stored track. */
  readonly length?: number
}

const hour = 3_600_000

export const allTrack: TrackRange = { label: 'All' }

export const trackRanges: readonly [TrackRange, ...TrackRange[]] = [
  { label: 'Last day', length: 24 * hour },
  { label: '7 days', length: 7 * 24 * hour },
  allTrack,
]

/** Maximum number of fixes in a page, and in the thinned part of a track. */
const pageSize = 1000
/** Maximum number of fixes of a track that is updated live. */
const mostFixes = 4 * pageSize

/**
 * Reads the track of a range. Reads the newest 1,000 fixes. If there are older fixes, divides the rest into at most 1,000 equal
 * intervals and reads one fix per interval, so that even a year takes three requests.
 *
 * @throws ApiError 404 for a thing that never had a position
 */
export async function readTrack(
  api: Pages,
  thingId: string,
  { length }: TrackRange,
  signal: AbortSignal,
): Promise<Track> {
  const path = `/v2/things/${thingId}/resources/$geo?`
  const get = (parameters: Record<string, string>) =>
    api.getPage<readonly unknown[]>(path + new URLSearchParams(parameters), signal)
  const from: Record<string, string> =
    length === undefined ? {} : { startDate: new Date(serverTime() - length).toISOString() }

  const newest = await get({ ...from, limit: String(pageSize) })
  const whole = fixesOf(newest.body, fixOf)
  const [start] = whole
  if (newest.next === undefined || !start) return { fixes: whole }

  const [oldest] = fixesOf((await get({ ...from, order: 'asc', limit: '1' })).body, fixOf)
  if (!oldest) return { fixes: whole }
  // Intervals are aligned to the epoch, so the first and the last interval extend beyond the range.
  const seconds = Math.max(1, Math.ceil((start.datetime - oldest.datetime) / (pageSize - 2) / 1000))
  const sample = { aggregate: 'last', interval: `${seconds}s`, limit: String(pageSize) }
  const endDate = new Date(start.datetime).toISOString()
  const thinned = await get({ ...from, ...sample, endDate })
  const fixes = fixesOf(thinned.body, intervalFix).filter(fix => fix.datetime < start.datetime)
  return { fixes: [...fixes, ...whole], every: seconds * 1000, wholeFrom: start.datetime }
}

/** The parts of a track between gaps, in order. In a gap, the position of the thing is not known. */
export function stretchesOf({
  fixes,
  every,
  wholeFrom = Number.NEGATIVE_INFINITY,
}: Track): readonly (readonly Fix[])[] {
  const firstWhole = fixes.findIndex(({ datetime }) => datetime >= wholeFrom)
  const split = firstWhole === -1 ? fixes.length : firstWhole
  // The step between the thinned part and the rest counts as a step of the thinned part.
  const thinned = gapsOf(fixes.slice(0, split + 1), every)
  const whole = gapsOf(fixes.slice(split)).map(at => at + split)
  const starts = [0, ...thinned, ...whole]
  return starts
    .map((start, place) => fixes.slice(start, starts[place + 1]))
    .filter(({ length }) => length > 0)
}

function gapsOf(fixes: readonly Fix[], interval?: number): readonly number[] {
  return gapsIn(
    fixes.map(({ datetime }) => datetime),
    interval,
  )
}

/** The track with one more fix, if the fix is newer. A track that is too long loses every second fix of its older half. */
export function grown(track: Track, fix: Fix): Track {
  const { fixes } = track
  const last = fixes.at(-1)
  if (last && fix.datetime <= last.datetime) return track
  const kept = fixes.length < mostFixes ? fixes : thinned(fixes)
  return { ...track, fixes: [...kept, fix] }
}

function thinned(fixes: readonly Fix[]): readonly Fix[] {
  const half = fixes.length / 2
  return fixes.filter((_, at) => at > half || at % 2 === 0)
}

function fixesOf(newestFirst: readonly unknown[], read: (item: unknown) => Fix | undefined): readonly Fix[] {
  return newestFirst.flatMap(item => read(item) ?? []).reverse()
}

/** The start of the interval is used as datetime of the fix, which is exact enough for drawing. */
function intervalFix(item: unknown): Fix | undefined {
  const { last, datetime } = item as { readonly last: unknown; readonly datetime: string }
  return fixAt(last, Date.parse(datetime))
}
