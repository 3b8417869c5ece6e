import type { Commit, Latest } from '../core/ports.ts'
import { isMagicKey } from '../core/record/key.ts'
import type { AcceptedRecord, StoredRecord } from '../core/record/record.ts'
import { arrayText, recordText } from '../core/record/record-text.ts'

const nothing = Buffer.alloc(0)

/**
 * The live messages of one commit (contract §7.2): one message for each record that is not magic and each new latest record, then
 * the whole message. A payload is encoded for the first subscriber that wants it, and shared by all subscribers.
 *
 * The place of a message is its index, from 0. The whole message has the last place.
 */
export class LiveWrite {
  readonly commit: Commit
  /** When the store delivered the commit, on a monotonic clock, milliseconds; undefined if the commit was read from the log. */
  readonly committedAt: number | undefined
  readonly wholePlace: number
  readonly #ordinary: readonly AcceptedRecord[]
  readonly #payloads: (Buffer | undefined)[]
  #whole: Buffer | undefined
  #records: string | undefined

  constructor(commit: Commit, committedAt?: number) {
    this.commit = commit
    this.committedAt = committedAt
    const { records, latest } = commit
    // Magic records have no message here: the new state of a magic resource is delivered in a separate commit.
    this.#ordinary = records.some(isMagic) ? records.filter(record => !isMagic(record)) : records
    this.wholePlace = this.#ordinary.length + latest.length
    this.#payloads = new Array<Buffer | undefined>(this.wholePlace)
  }

  /** Key of the message at a place; undefined for the whole message. */
  keyAt(place: number): string | undefined {
    return this.#ordinary[place]?.key ?? this.#latestAt(place)?.key
  }

  #latestAt(place: number): Latest | undefined {
    return this.commit.latest[place - this.#ordinary.length]
  }

  /** Payload of the message on `values/<keyAt(place)>`; empty if the resource has no records left. */
  value(place: number): Buffer {
    const made = this.#payloads[place]
    if (made) return made
    const payload = valuePayload(this.#ordinary[place] ?? this.#latestAt(place)?.record)
    this.#payloads[place] = payload
    return payload
  }

  /** Whether there is a whole message. A commit that only changes a latest record has no whole message. */
  get hasWhole(): boolean {
    return this.commit.records.length > 0
  }

  /** Payload of the whole message: the array of records as they were written (contract §7.2). */
  whole(): Buffer {
    this.#whole ??= Buffer.from(arrayText(this.commit.records.map(asWritten)))
    return this.#whole
  }

  /** The full records of the write as a JSON array (contract §8, SSE). */
  records(): string {
    this.#records ??= arrayText(this.commit.records.map(recordText))
    return this.#records
  }
}

/** Payload of a message on `values/<key>`, live or retained: the record in the form that REST returns. */
export function valuePayload(record: StoredRecord | undefined): Buffer {
  return record ? Buffer.from(recordText(record)) : nothing
}

function isMagic({ key }: AcceptedRecord): boolean {
  return isMagicKey(key)
}

function asWritten({ key, datetimeText, value, geo, written }: AcceptedRecord): string {
  const position = written ? written.geo : geo
  const geoText = position ? `"geo":{"lat":${position.lat},"long":${position.long}},` : ''
  const datetime = datetimeText === undefined ? '' : `"datetime":${JSON.stringify(datetimeText)},`
  return `{"key":${JSON.stringify(key)},${geoText}${datetime}"value":${written?.value ?? value}}`
}
