import type { Geo } from '../core/record/geo.ts'

/** A value as it is read: parsed JSON. Parsed for each reader, who may change it. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [member: string]: JsonValue }

/** A point in time: a `Date`, milliseconds since 1970, or a text as in contract §2.1, such as `2026-11-21T09:30:00Z`. */
export type Time = Date | number | string

/** A record that is to be written. Every rule of contract §2.1 holds. */
export interface NewReading {
  /** 1..128 letters, digits, `.`, `-` or `_`; or a magic key such as `$geo`. */
  readonly key: string
  /** What JSON can say: at most 64 KiB as JSON, depth at most 32, every number finite; null together with `geo` alone. */
  readonly value: string | number | boolean | object | null
  /** Degrees: `lat` -90..90, `long` -180..180. */
  readonly geo?: Geo | undefined
  /** When it was measured, from 1970 to 24 h ahead of the server. Default: the receipt time. */
  readonly datetime?: Time | undefined
}

/** A record of a thing, as a host reads and hears it. */
export interface Reading {
  readonly thingId: string
  readonly key: string
  readonly value: JsonValue
  /** When it was measured. */
  readonly datetime: Date
  /** Degrees; absent: the record has no position. */
  readonly geo?: Geo
}

export interface WriteReadingsOptions {
  /** False: no record is kept, and live messages are sent alone (contract §3). Default true. */
  readonly store?: boolean | undefined
  /** False: no live message is sent, and `on('reading')` hears nothing. Default true. */
  readonly broadcast?: boolean | undefined
  /** Write id, 1..64 printable ASCII characters: a second write of the thing with it has no effect (contract §4.4). Default: none. */
  readonly id?: string | undefined
}

/** The newest records, or those of a range, newest first. */
export interface ReadReadingsOptions {
  /** How many of the newest records, a whole number from 1. Default: 1, and with `from` or `to` all records of the range. */
  readonly last?: number | undefined
  /** Beginning of the range, inclusive. */
  readonly from?: Time | undefined
  /** End of the range, exclusive. */
  readonly to?: Time | undefined
}

/** A promise that is returned is looked at for its rejection alone. */
export type ReadingListener = (reading: Reading) => void | Promise<void>

/** What a host writes, reads and hears in its own process. No credential is asked for. */
export interface HostThings {
  /**
   * Writes records of one thing, all or none: by the same rules, limits and order as over HTTP. Writes of one thing are stored in
   * the order of the calls. A refusal for the content is on the list of the thing's refused writes, with the door `host`.
   *
   * @param records 1..10,000; not to be changed until it resolves
   * @returns resolves when every record is durable
   * @throws ThingwireError for the content (contract §2), with the bad records in `errors`; unknown_thing; too_many_resources
   * @throws ThingwireError to be written again: write_rate_exceeded, record_rate_exceeded, too_many_waiting, store_timeout,
   * store_unavailable, store_full; not again: service_closed
   * @throws TypeError of an unknown option
   */
  write(thingId: string, records: readonly NewReading[], options?: WriteReadingsOptions): Promise<void>
  /**
   * Reads records of one resource, newest first. More than 100 are read in turn with other costly reads, and are all in memory when
   * it resolves. The newest of a magic resource is its state, as over HTTP (contract §6).
   *
   * @throws ThingwireError unknown_thing; unknown_resource (nothing was ever written to the key); invalid_limit, invalid_range;
   * store_unavailable; service_closed
   * @throws TypeError of an unknown option
   */
  read(thingId: string, key: string, options?: ReadReadingsOptions): Promise<Reading[]>
  /**
   * Calls `listener` once for each record of each write that is broadcast, of every thing, through whichever door and on whichever
   * node: after the commit, in the order in which writes were stored. A record that was stored before is not among them. What a
   * listener throws goes to `onDefect`, and neither the service nor another listener notices.
   *
   * @returns stops the calls
   * @throws ThingwireError service_closed @throws TypeError of another event, or if the listener is no function
   */
  on(event: 'reading', listener: ReadingListener): () => void
}
