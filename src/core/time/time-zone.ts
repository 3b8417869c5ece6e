import type { Temporal } from 'temporal-polyfill'

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

/** Of names in the time zone database, and of what is no expression of the library: offsets and whole datetimes. */
const nameForm = /^[A-Za-z][\w+/-]{0,63}$/

/**
 * The zone of a name of the IANA time zone database, in any case, as the Node that runs knows it.
 *
 * @returns undefined if there is none
 */
export async function timeZoneOf(name: string): Promise<TimeZone | undefined> {
  if (!nameForm.test(name)) return undefined
  // When it is first asked for: importing takes a tenth of the time of a start.
  const { Temporal } = await import('temporal-polyfill')
  try {
    return new NamedZone(Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name))
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

class NamedZone implements TimeZone {
  readonly #epoch: Temporal.ZonedDateTime
  /** Those of the last answers, since to look one up takes as long as a hundred buckets. Two: a day has hours of both where clocks change. */
  #recent: readonly OffsetSpan[] = []

  constructor(epoch: Temporal.ZonedDateTime) {
    this.#epoch = epoch
  }

  spanAt(datetime: number): OffsetSpan {
    const known = this.#recent.find(({ start, end }) => datetime >= start && datetime < end)
    if (known) return known
    const then = this.#epoch.add({ milliseconds: datetime })
    // The one before a change is the one before it, not the change itself.
    const before = then.add({ milliseconds: 1 }).getTimeZoneTransition('previous')
    const after = then.getTimeZoneTransition('next')
    const span = {
      start: before?.epochMilliseconds ?? Number.NEGATIVE_INFINITY,
      end: after?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
      offset: then.offsetNanoseconds / 1e6,
    }
    this.#recent = [span, ...this.#recent.slice(0, 1)]
    return span
  }
}
