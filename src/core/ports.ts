import type { FieldError, Reason } from '../errors.ts'
import type { Ticket } from './async/ticket.ts'
import type { Lock } from './locks.ts'
import type { BucketSummary, Buckets } from './record/buckets.ts'
import type { Geo } from './record/geo.ts'
import type { Problem } from './record/problem.ts'
import type { AcceptedRecord, NewRecord, StoredRecord } from './record/record.ts'

/**
 * The interfaces that the core and the doors need. `store/` implements the interfaces for storage, and `store/contract.ts` says
 * what their methods guarantee (order, atomicity, durability, idempotency, concurrency).
 */

export interface WriteAnswer {
  /** The refused records of a `partial` write, in order. */
  readonly rejected?: readonly FieldError[]
}

export interface Append {
  readonly thingId: string
  /** The records, in the order of the write. Empty if only states are put. */
  readonly records: readonly NewRecord[]
  /** If false, stores nothing, but numbers the write and delivers all its records, even those stored earlier (contract §3). */
  readonly store: boolean
  /** Write id, 1 to 64 printable ASCII characters. A later write of the thing with the same id has no effect. */
  readonly id?: string | undefined
  /** The answer to a later write with the same id. */
  readonly answer: WriteAnswer
  /** Whether to send live messages. */
  readonly broadcast: boolean
  /**
   * Maximum number of resources of the thing; absent if there is no limit. A write that would exceed it is refused as a whole, even
   * with `partial`, since only the store knows the resources. A resource is a key, ordinary or magic, with records. Existing
   * resources over the limit are kept.
   */
  readonly maximumResources?: number
  /**
   * New states of magic resources, stored with the records; with `store: false`, they are only delivered. An ordinary resource has
   * no state (see `Latest`).
   */
  readonly states?: readonly Latest[]
  /**
   * Documents to put in the same commit as the records, such as the packet id of a QoS 2 PUBLISH: either both become durable or
   * neither. They are put even if the write repeats an id or all of its records were stored earlier. If the write itself needs no
   * space, the documents are put as `essential` (see `PutPurpose`).
   */
  readonly documents?: DocumentPut | undefined
  /** The whole write is refused with `LockLost` if this lock is no longer held at the commit. */
  readonly lock?: Lock | undefined
  /**
   * The connection that sent the write. Writes of one connection commit in the order of the calls, but may overtake long writes
   * that another connection makes to another thing (contract §4.3). Without `sender`, the write overtakes no other write.
   */
  readonly sender?: object | undefined
}

/** The newest record of an ordinary resource (by datetime, then write number, then place), or the state of a magic resource. */
export interface Latest {
  readonly key: string
  /** undefined if the resource has no records. */
  readonly record: StoredRecord | undefined
}

/** The result of a durable append. */
export interface Receipt {
  /** Place of the write in commit order, from 1; 0 for a repeated write, which has no effect. */
  readonly writeNumber: number
  /** The answer to the write; for a repeated write, the answer of the first write. */
  readonly answer: WriteAnswer
}

/** A committed write, delivered to listeners in commit order. */
export interface Commit {
  readonly thingId: string
  readonly writeNumber: number
  /** Receipt time, milliseconds. */
  readonly receivedAt: number
  /** Records of the write, in order, without those that an earlier write has stored (contract §4, resend (a)). */
  readonly records: readonly AcceptedRecord[]
  /** The states that the write put. If the commit removed the newest record of a resource: the record that is newest now. */
  readonly latest: readonly Latest[]
  /** If false, nothing was stored, and after a crash another write may get the same number. */
  readonly stored: boolean
  readonly broadcast: boolean
  /** Set if another node made the commit. */
  readonly isElsewhere?: true
  /** Present if `records` and `latest` are parsed lazily. */
  readonly outline?: CommitOutline
}

export interface CommitOutline {
  readonly records: number
  readonly hasMagic: boolean
  /** Approximate memory of the commit, bytes. */
  readonly bytes: number
}

export interface LogQuery {
  /** Write number, exclusive. */
  readonly after: number
  /** Write number, exclusive; Infinity: up to the end of the log. */
  readonly before: number
  /** Whether to include commits of this thing. Called for each commit; skipping a commit costs little. Default: include all. */
  readonly isOf?: (thingId: string) => boolean
  readonly order: 'asc' | 'desc'
  /** Maximum number of commits, at least 1. A page with large entries is shorter. Only an empty page means that none remain. */
  readonly limit: number
}

export interface LatestQuery {
  /** Selects one thing; if absent, every thing. */
  readonly thingId?: string
  /** Selects the resources with this key; if absent, all resources. */
  readonly key?: string
}

export interface LatestOfThing extends Latest {
  readonly thingId: string
  readonly record: StoredRecord
}

/** A view of the store as it was after one commit. It must be closed. */
export interface Snapshot {
  /** Number of the last write that the snapshot includes. */
  readonly writeNumber: number
  /** Yields pages with the `Latest` of each selected resource. Does not read any other records. */
  latest(query: LatestQuery): AsyncIterable<readonly LatestOfThing[]>
  close(): Promise<void>
}

export interface TimeRange {
  /** Inclusive, milliseconds. */
  readonly from?: number
  /** Exclusive, milliseconds. */
  readonly to?: number
}

export interface PageQuery extends TimeRange {
  /** Records are ordered by datetime, then write number, then place; `desc` is the exact reverse of `asc`. */
  readonly order: 'asc' | 'desc'
  /** Maximum number of records, at least 1. A page can be shorter, see `Page`. */
  readonly limit: number
  /** `next` of the previous page. */
  readonly cursor?: string
}

/** Maximum number of value characters in a page, not counting its last record. Limits the memory that a slow reader takes. */
export const maximumPageText = 1024 * 1024

export interface Page {
  /** At most `limit` records; fewer if their values are large. */
  readonly records: readonly StoredRecord[]
  /** Opaque cursor of the next page; absent if there are no more records. */
  readonly next?: string
}

export interface AggregateQuery extends TimeRange {
  readonly order: 'asc' | 'desc'
  /** Maximum number of buckets, at least 1. There can be fewer, see `Aggregates`. */
  readonly limit: number
  readonly buckets: Buckets
}

export interface Aggregates {
  /** At most `limit` buckets; fewer once their `first` and `last` together have `maximumPageText` characters or more. */
  readonly buckets: readonly BucketSummary[]
  /** `from` of the next query in ascending order, or `to` in descending order; milliseconds. Absent if no buckets remain. */
  readonly next?: number
}

/** The result of one call of `removeOld`. */
export interface RemovedOld {
  readonly count: number
  /** `from` of the next call, opaque; absent if no old records remain. */
  readonly next?: string
}

/** The time-ordered records of all things. */
export interface RecordStore {
  /** @throws ThingwireError too_many_resources: nothing of the write was stored */
  append(write: Append): Promise<Receipt>
  /** Like `append`, for callers with many pending writes: settles the ticket instead of returning a promise. */
  submit(write: Append, ticket: Ticket<Receipt>): void
  /** The answer to the write with this id; waits if that write is pending. Undefined if no such write is known. */
  answerOf(thingId: string, id: string, now: number): Promise<WriteAnswer | undefined>
  /** @returns undefined if nothing was ever stored under the key. @throws ThingwireError invalid_cursor */
  read(thingId: string, key: string, query: PageQuery): Promise<Page | undefined>
  /** Summaries of the buckets that have records in the range. @returns undefined if nothing was ever stored under the key */
  aggregate(thingId: string, key: string, query: AggregateQuery): Promise<Aggregates | undefined>
  /** Thing ids after `after` (exclusive), sorted by bytes, at most `limit`. Includes all things with records, maybe also others. */
  things(page: { readonly after?: string; readonly limit: number }): Promise<readonly string[]>
  /** Keys that have records, sorted by bytes. */
  resources(thingId: string): Promise<readonly string[]>
  /** State of a magic resource; undefined if it has none. */
  state(thingId: string, key: string): Promise<StoredRecord | undefined>
  /** A snapshot that includes everything appended before the call. */
  snapshot(): Promise<Snapshot>
  /**
   * Resolves when listeners have received all commits that any node made, and all appends that this node began, before the call.
   *
   * @returns the number of the newest delivered write, 0 if there is none
   */
  catchUp(): Promise<number>
  /**
   * Removes the records in the range that were stored before the call, and returns their number. If the newest record of an
   * ordinary resource is removed, listeners get its new `Latest` (`Commit.latest`) before the promise resolves.
   */
  remove(thingId: string, key: string, range: TimeRange): Promise<number>
  /**
   * Removes some records with a datetime before `before` (exclusive, milliseconds), oldest first; few enough not to delay writes.
   * Never removes the newest record, so its `Latest` does not change, and listeners are not called. May also remove records that
   * are appended during the call. After a crash, some of the removed records may reappear.
   *
   * @param from `next` of the previous call
   * @throws LockLost if `lock` is no longer held: nothing is removed
   */
  removeOld(thingId: string, key: string, before: number, from?: string, lock?: Lock): Promise<RemovedOld>
  /** Removes all data of a thing: records, write ids, refused writes. After a crash, call this again. */
  removeThing(thingId: string): Promise<void>
  /**
   * Calls `listener`, which must not throw, for every commit, in commit order, before the append resolves. `records` of the commit
   * is empty if all records of the write were stored earlier. @returns the unsubscribe function
   */
  onCommit(listener: (commit: Commit) => void): () => void
  /**
   * Selects the commits to log. Default: none. A log entry is stored atomically with its commit. A commit with `store: false` is
   * never logged. `isWanted` is called when a write gets its number, so not before earlier snapshots have been taken.
   */
  logWhen(isWanted: (write: Pick<Commit, 'thingId' | 'records' | 'broadcast'>) => boolean): void
  /** Commits of the log, ordered by write number; the same as those that listeners received. */
  readLog(query: LogQuery): Promise<readonly Commit[]>
  /**
   * Removes these commits from the log; in a shared store only those up to `Nodes.logBounds().trimmableTo`, inclusive.
   *
   * @throws LockLost if `lock` is no longer held
   */
  trimLog(writeNumbers: readonly number[], lock?: Lock): Promise<void>
}

/** The formats of writes besides that of contract §2. */
export interface WriteFormats {
  /**
   * @param format name and levels, as in the address of the write: `value/cellar/temperature`
   * @returns the records, as a write spells them; none if the body holds no reading
   * @throws ThingwireError unknown_format, or as the format refuses the body
   */
  read(format: string, body: Uint8Array): readonly unknown[]
  /** The end of an address that takes this body, such as `write/json`; undefined if there is none. */
  fitting(body: Uint8Array): string | undefined
}

/** Holds writes back while a consumer of commits is lagging. */
export interface BackPressure {
  /** Resolves when writes may go on; undefined if they may go on now. */
  room(): Promise<void> | undefined
}

/** The limits of a thing's writes (contract §9). */
export interface WriteLimits {
  readonly rate: WriteRate
  readonly options: { readonly resourcesPerThing: number }
  count(limit: 'too_many_waiting' | 'too_many_resources'): void
}

/**
 * Limits the writes and the records per second of each thing, over HTTP and MQTT together. A thing that has written more than its
 * burst is in debt until enough time has passed to pay for its writes.
 */
export interface WriteRate {
  /**
   * Charges a thing for a write, whatever its outcome; the write may be larger than the remaining burst. Call this in the order in
   * which the writes of a thing must be stored.
   *
   * @returns undefined if the write may go on now. For an MQTT write of a thing in debt, a promise that resolves when the write may
   * go on, in the order of the calls, and rejects with unknown_thing if the thing is removed meanwhile
   * @throws ThingwireError write_rate_exceeded, record_rate_exceeded: the thing is in debt, and the write is not charged. An MQTT
   * write is refused only if the debt is more than 30 s or too many bytes wait
   */
  enter(write: {
    readonly thingId: string
    readonly door: 'http' | 'mqtt' | 'host'
    readonly body: Uint8Array
  }): Promise<void> | undefined
  /** Charges a thing for the records of a write. Call this right after `enter`. */
  charge(thingId: string, records: number): void
  /** Whether to list a dropped write: true at most once a second for each thing. Further dropped writes are only counted. */
  mayNote(thingId: string): boolean
  /** Call this when a door begins to close. Until the returned function is called, the rate limit delays no write. */
  drain(): () => void
}

/** A small JSON document. */
export type Document = Readonly<Record<string, unknown>>

/** The new contents by document name; null removes the document. */
export type DocumentPut = Readonly<Record<string, Document | null>>

export interface DocumentChange<Result> {
  readonly put: DocumentPut
  readonly result: Result
  readonly purpose: PutPurpose
}

/**
 * Why documents are put. Decides whether a store that is short of space accepts them (see Space in `Store`; contract §9).
 *
 * | purpose | what is put | below `minFreeSpace` | disk full |
 * |---|---|---|---|
 * | `keep` | data that grow with use: messages for absent sessions, retained messages, new sessions and filters; and unimportant data | refused, like records | refused |
 * | `register` | a registry entry that an operator or a thing requests: a thing, token, session, code or name | put | refused |
 * | `essential` | data needed to remove, revoke or acknowledge something, or to start a client or the service | put | put, from the reserve |
 *
 * A put that only removes documents is never refused.
 */
export type PutPurpose = 'keep' | 'register' | 'essential'

/** Small documents by name, such as `things/<id>` and `tokens/<hash>`: the registry, and the state of the HTTP and MQTT doors. */
export interface DocumentStore {
  get(name: string): Promise<Document | undefined>
  /** Like `get`, but reads in commit order: after every earlier append, put and transact has been committed or has failed. */
  getInOrder(name: string): Promise<Document | undefined>
  /** At most `limit` documents whose name starts with `prefix` and sorts after `after` (exclusive), ordered by name. */
  list(prefix: string, options: { after?: string; limit: number }): Promise<readonly [string, Document][]>
  /** Like `list`, but returns only the names. Reads no contents, so the size of the documents does not matter. */
  names(prefix: string, options: { after?: string; limit: number }): Promise<readonly string[]>
  /**
   * Puts documents durably and atomically, without reading their present contents. Shares a commit with waiting appends and puts,
   * and takes effect in the order of the calls.
   *
   * @throws LockLost if `lock` is no longer held at the commit: nothing is put
   */
  put(documents: DocumentPut, purpose: PutPurpose, lock?: Lock): Promise<void>
  /**
   * Reads the named documents, calls `change` with their contents, and puts the result, durably and atomically: no other call
   * changes these documents in between. `change` may also put further documents. It must be pure: it may be called repeatedly.
   */
  transact<Result>(
    names: readonly string[],
    change: (documents: readonly (Document | undefined)[]) => DocumentChange<Result>,
  ): Promise<Result>
}

/** A refused write or a rejected connection (an item of `GET …/errors`, contract §6). */
export interface RefusedWrite {
  /** Receipt time, milliseconds. */
  readonly datetime: number
  /** `magic`: acknowledged and kept as history, but not applied to the state (contract §5). `host`: written by the host program. */
  readonly door: 'http' | 'mqtt' | 'host' | 'magic'
  readonly reason: Reason
  readonly message: string
  /** How often a connection was rejected for this cause since the previous entry for the cause; absent if only once. */
  readonly count?: number
  readonly errors?: readonly FieldError[]
  readonly id?: string
  /** The first 200 characters of the body, with tokens redacted. */
  readonly excerpt: string
}

/** The last 100 refused writes and rejected connections of each thing. */
export interface RefusedWrites {
  add(thingId: string, refused: RefusedWrite): Promise<void>
  /** Returns at most `limit` refused writes, newest first. */
  list(thingId: string, limit: number): Promise<readonly RefusedWrite[]>
}

export interface MagicRecord {
  readonly key: string
  /** The parsed JSON value; undefined if the record has no value. */
  readonly value: unknown
  readonly geo: Geo | undefined
}

/** The form in which a magic record is stored in the history of its key. */
export interface MagicHistory {
  readonly value: unknown
  readonly geo?: Geo | undefined
}

/** The rules of the known magic resources (contract §5). */
export interface MagicRules {
  /** Checks a record by the rules of its magic resource. @returns the form to store in the history, or the problem */
  check(record: MagicRecord): MagicHistory | Problem
}
