import type { Temporal } from 'temporal-polyfill'
import { partitionPoint } from '../algorithms/partition-point.ts'

/** A stretch of time in which the clocks of a zone have one offset; milliseconds. */
interface OffsetSpan {
  /** -Infinity: from ever on. */
  readonly start: number
  /** Exclusive; Infinity: for ever. */
  readonly end: number
  /** Of the clocks, ahead of UTC. */
  readonly offset: number
}

/** The clocks of a place: what they show is local time. */
export interface TimeZone {
  /** The stretch that a time is in. */
  spanAt(datetime: number): OffsetSpan
}

const always: OffsetSpan = { start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY, offset: 0 }

export const utc: TimeZone = { spanAt: () => always }

/** @param text `+02:00`, `-0330`, `UTC+2`, `GMT-5` @returns undefined if it is no such offset */
export function fixedZoneOf(text: string): TimeZone | undefined {
  const [, sign, hours = 0, minutes = 0] =
    /^(?:UTC|GMT)?([+-])(0?\d|1[0-4])(?::?([0-5]\d))?$/i.exec(text) ?? []
  if (sign === undefined) return undefined
  const offset = Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000
  return { spanAt: () => ({ ...always, offset }) }
}

/** Of names in the time zone database, and of what is no expression of the library: offsets and whole datetimes. */
const nameForm = /^[A-Za-z][\w+/-]{0,63}$/

/** Zones that are kept, by their names in small letters: what is asked for again need not be looked up again. */
const known = new Map<string, NamedZone>()
const zonesInMemory = 64
/** Of each; three centuries of clocks that change twice a year. */
const spansInMemory = 600

/**
 * The zone of a name of the IANA time zone database, in any case, as the Node that runs knows it.
 *
 * @returns undefined if there is none
 */
export async function timeZoneOf(name: string): Promise<TimeZone | undefined> {
  if (!nameForm.test(name)) return undefined
  const before = known.get(name.toLowerCase())
  if (before) return before
  // When it is first asked for: importing takes a tenth of the time of a start.
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
  /** Those that were asked for, in the order of time: to look one up takes as long as thousands of buckets. */
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
    // The one before a change is the one before it, not the change itself.
    const before = then.add({ milliseconds: 1 }).getTimeZoneTransition('previous')
    const after = then.getTimeZoneTransition('next')
    return {
      start: before?.epochMilliseconds ?? Number.NEGATIVE_INFINITY,
      end: after?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
      offset: then.offsetNanoseconds / 1e6,
    }
  }
}
