import type { Temporal } from 'temporal-polyfill'
import { partitionPoint } from '../algorithms/partition-point.ts'

/** A period in which a zone has the same offset. All members are in milliseconds. */
interface OffsetSpan {
  /** Inclusive; -Infinity if the period has no start. */
  readonly start: number
  /** Exclusive; Infinity if the period has no end. */
  readonly end: number
  /** How far the zone is ahead of UTC; negative if it is behind. */
  readonly offset: number
}

export interface TimeZone {
  spanAt(datetime: number): OffsetSpan
}

const always: OffsetSpan = { start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY, offset: 0 }

export const utc: TimeZone = { spanAt: () => always }

/** @param text an offset such as `+02:00`, `-0330`, `UTC+2` or `GMT-5` @returns undefined if the text is not an offset */
export function fixedZoneOf(text: string): TimeZone | undefined {
  const [, sign, hours = 0, minutes = 0] =
    /^(?:UTC|GMT)?([+-])(0?\d|1[0-4])(?::?([0-5]\d))?$/i.exec(text) ?? []
  if (sign === undefined) return undefined
  const offset = Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000
  return { spanAt: () => ({ ...always, offset }) }
}

/** Matches names of the time zone database, but not the offsets and datetimes that Temporal also accepts. */
const nameForm = /^[A-Za-z][\w+/-]{0,63}$/

/** Cached zones, by name in lower case. */
const known = new Map<string, NamedZone>()
const zonesInMemory = 64
/** Maximum number of cached periods of a zone: enough for three centuries of clocks that change twice a year. */
const spansInMemory = 600

/** The zone with this name in Node's time zone data; case does not matter. @returns undefined if the name is unknown */
export async function timeZoneOf(name: string): Promise<TimeZone | undefined> {
  if (!nameForm.test(name)) return undefined
  const before = known.get(name.toLowerCase())
  if (before) return before
  // Imported on demand, since the import would take a tenth of the start time.
  const { Temporal } = await import('temporal-polyfill')
  try {
    const zone = new NamedZone(Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name))
    if (known.size >= zonesInMemory) known.clear()
    known.set(name.toLowerCase(), zone)
    return zone
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

class NamedZone implements TimeZone {
  readonly #epoch: Temporal.ZonedDateTime
  /** Cached periods, earliest first. Computing a period takes as long as computing thousands of buckets. */
  #spans: OffsetSpan[] = []
  #newest: OffsetSpan

  constructor(epoch: Temporal.ZonedDateTime) {
    this.#epoch = epoch
    this.#newest = this.#look(0)
  }

  spanAt(datetime: number): OffsetSpan {
    if (datetime >= this.#newest.start && datetime < this.#newest.end) return this.#newest
    const place = partitionPoint(this.#spans, ({ end }) => end <= datetime)
    const found = this.#spans[place]
    if (found && found.start <= datetime) this.#newest = found
    else {
      this.#newest = this.#look(datetime)
      if (this.#spans.length < spansInMemory) this.#spans.splice(place, 0, this.#newest)
      else this.#spans = [this.#newest]
    }
    return this.#newest
  }

  #look(datetime: number): OffsetSpan {
    const then = this.#epoch.add({ milliseconds: datetime })
    // 'previous' leaves out a transition at the given instant itself, so give an instant 1 ms later.
    const before = then.add({ milliseconds: 1 }).getTimeZoneTransition('previous')
    const after = then.getTimeZoneTransition('next')
    return {
      start: before?.epochMilliseconds ?? Number.NEGATIVE_INFINITY,
      end: after?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
      offset: then.offsetNanoseconds / 1e6,
    }
  }
}
