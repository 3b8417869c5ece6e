import type { Geo } from '../core/record/geo.ts'

/** A value that was read, as parsed JSON. Each caller and listener gets its own copy, and may change it. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [member: string]: JsonValue }

/** A point in time: a `Date`, milliseconds since 1970, or a text as in contract §2.1, such as `2026-11-21T09:30:00Z`. */
export type Time = Date | number | string

/** A record to write. Every rule of contract §2.1 applies. */
export interface NewReading {
  /** 1..128 letters, digits, `.`, `-` or `_`; or a magic key such as `$geo`. */
  readonly key: string
  /** Any JSON value of at most 64 KiB and 32 levels, with finite numbers; null only with `geo`, or to remove a setting. */
  readonly value: string | number | boolean | object | null
  /** Degrees: `lat` from -90 to 90, `long` from -180 to 180, all inclusive. */
  readonly geo?: Geo | undefined
  /** When the value was measured: from 1970 to at most 24 h ahead of the server. Default: the receipt time. */
  readonly datetime?: Time | undefined
}

/** A record of a thing, as `read` returns it and a listener gets it. */
export interface Reading {
  readonly thingId: string
  readonly key: string
  readonly value: JsonValue
  /** When the value was measured. */
  readonly datetime: Date
  /** Degrees; absent if the record has no position. */
  readonly geo?: Geo
}

export interface WriteReadingsOptions {
  /** False: no record is stored; only live messages are sent (contract §3). Default true. */
  readonly store?: boolean | undefined
  /** False: no live message is sent, and listeners of `on('reading')` are not called. Default true. */
  readonly broadcast?: boolean | undefined
  /** Write id, 1..64 printable ASCII characters: a second write of the thing with this id has no effect (contract §4.4). */
  readonly id?: string | undefined
}

/** Selects the newest records, or the records of a range; newest first. */
export interface ReadReadingsOptions {
  /** Maximum number of records, a whole number from 1. Default: 1; with `from` or `to`, all records of the range. */
  readonly last?: number | undefined
  /** Beginning of the range, inclusive. */
  readonly from?: Time | undefined
  /** End of the range, exclusive. */
  readonly to?: Time | undefined
}

/** A returned promise is not awaited, but a rejection is reported to `onDefect`. */
export type ReadingListener = (reading: Reading) => void | Promise<void>

/** Lets a host write, read and listen in its own process, without a credential. */
export interface HostThings {
  /**
   * Writes records of one thing, all or none, under the same rules, limits and order as over HTTP. Writes of one thing are stored
   * in the order of the calls. A write that is refused for its content is listed as a refused write, with door `host`.
   *
   * @param records 1..10,000; must not be changed before the promise resolves
   * @returns a promise that resolves when every record is durable
   * @throws ThingwireError for the content (contract §2), with the bad records in `errors`; unknown_thing; too_many_resources
   * @throws ThingwireError if the write can be retried: write_rate_exceeded, record_rate_exceeded, too_many_waiting, store_timeout,
   * store_unavailable, store_full; if it cannot be retried: service_closed
   * @throws TypeError if an option is unknown
   */
  write(thingId: string, records: readonly NewReading[], options?: WriteReadingsOptions): Promise<void>
  /**
   * Reads records of one resource, newest first. A read of more than 100 records waits its turn among other costly reads. All
   * records of a read are in memory at the end. The newest record of a magic resource is its state, as over HTTP (contract §6).
   *
   * @throws ThingwireError unknown_thing; unknown_resource (nothing was ever written to the key); invalid_limit, invalid_range;
   * store_unavailable; service_closed
   * @throws TypeError if an option is unknown
   */
  read(thingId: string, key: string, options?: ReadReadingsOptions): Promise<Reading[]>
  /**
   * Calls `listener` once for each record of each broadcast write of every thing, whichever door and node the write used. The calls
   * for a write come after its commit, in the order of the commits. A record that was already stored is left out. An error from a
   * listener is passed to `onDefect`, and does not affect the service or other listeners.
   *
   * @returns a function that stops the calls
   * @throws ThingwireError service_closed @throws TypeError for another event, or if the listener is not a function
   */
  on(event: 'reading', listener: ReadingListener): () => void
}
