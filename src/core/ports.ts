import type { FieldError, Reason } from '../errors.ts'
import type { Ticket } from './async/ticket.ts'
import type { Lock } from './locks.ts'
import type { BucketSummary, Buckets } from './record/buckets.ts'
import type { Geo } from './record/geo.ts'
import type { Problem } from './record/problem.ts'
import type { AcceptedRecord, NewRecord, StoredRecord } from './record/record.ts'

/**
 * The interfaces that the core and the doors need. `store/contract.ts` has the promises of the store's methods (order, atomicity,
 * durability, idempotency, concurrency); `store/` implements them.
 */

export interface WriteAnswer {
  /** The refused records of a `partial` write, in order. */
  readonly rejected?: readonly FieldError[]
}

export interface Append {
  readonly thingId: string
  /** In the order of the write. Empty if only states are put. */
  readonly records: readonly NewRecord[]
  /** False: the records, also those that are stored already, are numbered and delivered to listeners, but not stored (contract §3). */
  readonly store: boolean
  /** Write id, 1..64 printable ASCII: a later write of the thing with the same id has no effect. */
  readonly id?: string | undefined
  /** The answer to a later write with the same id. */
  readonly answer: WriteAnswer
  /** Whether to send live messages. */
  readonly broadcast: boolean
  /**
   * Most resources of the thing: a write that would make one more is refused as a whole, also with `partial`, since only the store
   * knows the resources. Absent: any number. A resource is a key, ordinary or magic, with records; a thing keeps resources over the
   * limit that it has already.
   */
  readonly maximumResources?: number
  /**
   * New states of resources of the thing, stored with the records; `store: false` only delivers them. Only magic resources have a
   * state: the latest of any other resource is its newest record.
   */
  readonly states?: readonly Latest[]
  /**
   * Documents to put in the same commit as the records, such as the packet id of a QoS 2 PUBLISH: both are durable or neither. They
   * are put even if the write repeats an id, or all of its records were stored before. With a write that takes no space they are
   * `essential`.
   */
  readonly documents?: DocumentPut | undefined
  /** The whole write is refused with `LockLost` if this lock is not held any more at the commit. */
  readonly lock?: Lock | undefined
  /**
   * The connection of the write. Writes of one connection commit in the order of the calls, and may overtake long writes of other
   * connections to other things (contract §4.3). Absent: the write overtakes nothing.
   */
  readonly sender?: object | undefined
}

/** The latest of a resource: its newest record by datetime, then write number, then place; or its state. */
export interface Latest {
  readonly key: string
  /** undefined: the resource has no records (any more). */
  readonly record: StoredRecord | undefined
}

/** The result of a durable append. */
export interface Receipt {
  /** Place of the write in commit order, from 1; 0 for a repeat, which had no effect. */
  readonly writeNumber: number
  /** The answer to give; for a repeat, that of the first write. */
  readonly answer: WriteAnswer
}

/** A committed write, delivered to listeners in commit order. */
export interface Commit {
  readonly thingId: string
  readonly writeNumber: number
  /** Receipt time, milliseconds. */
  readonly receivedAt: number
  /** Records of the write, in order, without those that were stored before (contract §4, resend (a)). */
  readonly records: readonly AcceptedRecord[]
  /** States that were put; or the new latest of a resource, after a removal that took its newest record. */
  readonly latest: readonly Latest[]
  /** False: nothing was stored, and after a crash another write may get the number. */
  readonly stored: boolean
  readonly broadcast: boolean
  /** Another node has committed it. */
  readonly isElsewhere?: true
  /** Present if `records` and `latest` are parsed lazily. */
  readonly outline?: CommitOutline
}

export interface CommitOutline {
  readonly records: number
  readonly hasMagic: boolean
  /** Approximate memory of the commit. */
  readonly bytes: number
}

export interface LogQuery {
  /** Write number, exclusive. */
  readonly after: number
  /** Write number, exclusive; Infinity for the end. */
  readonly before: number
  /** Whether commits of a thing are wanted, called for each commit; absent: of every thing. Unwanted commits cost little. */
  readonly isOf?: (thingId: string) => boolean
  readonly order: 'asc' | 'desc'
  /** At least 1. A page of large entries is shorter; only an empty one means the end. */
  readonly limit: number
}

export interface LatestQuery {
  /** Absent: every thing. */
  readonly thingId?: string
  /** Absent: every resource. */
  readonly key?: string
}

export interface LatestOfThing extends Latest {
  readonly thingId: string
  readonly record: StoredRecord
}

/** The store as it was after one commit. Must be closed. */
export interface Snapshot {
  /** Number of that commit, the last one in the snapshot. */
  readonly writeNumber: number
  /** The latest of each selected resource, a page at a time, at a cost in proportion. For a magic resource that is only its state. */
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
  /** By datetime, then write number, then place; `desc` is the exact reverse of `asc`. */
  readonly order: 'asc' | 'desc'
  /** At least 1; a page can be shorter, see `Page`. */
  readonly limit: number
  /** `next` of the page before. */
  readonly cursor?: string
}

/** Most characters of values in a page, without its last record: bounds the memory of a slow reader. */
export const maximumPageText = 1024 * 1024

export interface Page {
  /** At most `limit`; fewer if their values are large. */
  readonly records: readonly StoredRecord[]
  /** Opaque; present if there are more records. */
  readonly next?: string
}

export interface AggregateQuery extends TimeRange {
  readonly order: 'asc' | 'desc'
  /** Most buckets, at least 1; there can be fewer, see `Aggregates`. */
  readonly limit: number
  readonly buckets: Buckets
}

export interface Aggregates {
  /** At most `limit`; fewer if their `first` and `last` together have `maximumPageText` characters or more. */
  readonly buckets: readonly BucketSummary[]
  /** If there are more: `from` of the rest in ascending order, `to` of the rest in descending order; milliseconds. */
  readonly next?: number
}

/** The result of one piece of `removeOld`. */
export interface RemovedOld {
  readonly count: number
  /** Begin of the next piece, opaque; absent: there is none. */
  readonly next?: string
}

/** The time-ordered records of all things. */
export interface RecordStore {
  /** @throws ThingwireError too_many_resources: nothing of the write was stored */
  append(write: Append): Promise<Receipt>
  /** The same for callers with many pending writes: settles the ticket. */
  submit(write: Append, ticket: Ticket<Receipt>): void
  /** The answer to the write with this id, after waiting for a pending one; undefined: no such write is known. */
  answerOf(thingId: string, id: string, now: number): Promise<WriteAnswer | undefined>
  /** @returns undefined if nothing was ever stored under the key. @throws ThingwireError invalid_cursor */
  read(thingId: string, key: string, query: PageQuery): Promise<Page | undefined>
  /** Summaries of the buckets that have records in the range. @returns undefined if nothing was ever stored under the key */
  aggregate(thingId: string, key: string, query: AggregateQuery): Promise<Aggregates | undefined>
  /** Ids of the things with records, perhaps also of some without, sorted by bytes: at most `limit` after `after`. */
  things(page: { readonly after?: string; readonly limit: number }): Promise<readonly string[]>
  /** Keys with records, sorted by bytes. */
  resources(thingId: string): Promise<readonly string[]>
  /** State of a magic resource; undefined if it has none. */
  state(thingId: string, key: string): Promise<StoredRecord | undefined>
  /** Has everything that was appended before the call. */
  snapshot(): Promise<Snapshot>
  /**
   * Resolves when all commits of any node, and all appends of this one, from before the call are delivered.
   *
   * @returns the number of the newest delivered write, 0 if there is none
   */
  catchUp(): Promise<number>
  /**
   * Removes records that were stored before the call; returns their number. If the newest record of an ordinary resource is
   * removed, listeners get the new latest (`Commit.latest`) before this resolves.
   */
  remove(thingId: string, key: string, range: TimeRange): Promise<number>
  /**
   * Removes a piece of a resource's records from before the datetime `before` (milliseconds), oldest first; never its newest
   * record, so the latest does not change and nothing is delivered. It may also remove records that are appended meanwhile. A piece
   * is too small to delay writes; after a crash some of its records may be back.
   *
   * @param from `next` of the previous piece
   * @throws LockLost if `lock` is not held any more: nothing is removed
   */
  removeOld(thingId: string, key: string, before: number, from?: string, lock?: Lock): Promise<RemovedOld>
  /** Removes all data of a thing: records, write ids, refused writes. May be called again after a crash. */
  removeThing(thingId: string): Promise<void>
  /**
   * Calls `listener` for every commit, in commit order, before the append resolves; it must not throw. `records` is empty if all of
   * them were stored before. @returns the unsubscribe function
   */
  onCommit(listener: (commit: Commit) => void): () => void
  /**
   * Sets which commits go into the commit log, in the batch of the commit itself. `isWanted` is called while a write of the thing
   * is put together, after every snapshot that was asked for before the write. Default: none. Only stored commits are logged.
   */
  logWhen(isWanted: (write: Pick<Commit, 'thingId' | 'records' | 'broadcast'>) => boolean): void
  /** Commits of the log by write number, as listeners got them. */
  readLog(query: LogQuery): Promise<readonly Commit[]>
  /**
   * Removes these commits from the log, in a shared store only those up to `Nodes.logBounds().trimmableTo`.
   *
   * @throws LockLost if `lock` is not held any more
   */
  trimLog(writeNumbers: readonly number[], lock?: Lock): Promise<void>
}

/** A follower of commits that may fall behind. */
export interface BackPressure {
  /** Resolves when writes may go on; undefined: they may go on now. */
  room(): Promise<void> | undefined
}

/** The limits of a thing's writes (contract §9). */
export interface WriteLimits {
  readonly rate: WriteRate
  readonly options: { readonly resourcesPerThing: number }
  count(limit: 'too_many_waiting' | 'too_many_resources'): void
}

/**
 * Limits the writes and records a second of each thing, over both doors together. A thing that has written more than its burst is
 * in debt until enough time has passed to pay for its writes.
 */
export interface WriteRate {
  /**
   * Charges a thing for a write, whatever its outcome; the write may be larger than the remaining burst. Call it in the order in
   * which the writes of a thing have to be stored.
   *
   * @returns undefined: the write may go on now. If the thing is in debt, over MQTT: resolves when the write may go on, in the
   * order of the calls. Rejects with unknown_thing if the thing is removed meanwhile
   * @throws ThingwireError write_rate_exceeded, record_rate_exceeded: the thing is in debt; over MQTT, for more than 30 s or with
   * too many waiting bytes. The write is not charged
   */
  enter(write: {
    readonly thingId: string
    readonly door: 'http' | 'mqtt' | 'host'
    readonly body: Uint8Array
  }): Promise<void> | undefined
  /** Charges the records of a write, right after its `enter`. */
  charge(thingId: string, records: number): void
  /** Whether to list a dropped write: one a second for each thing; the others are only counted. */
  mayNote(thingId: string): boolean
  /** While a door closes: lets waiting and new writes pass. @returns ends that */
  drain(): () => void
}

/** A small JSON document. */
export type Document = Readonly<Record<string, unknown>>

/** New content by document name; null removes the document. */
export type DocumentPut = Readonly<Record<string, Document | null>>

export interface DocumentChange<Result> {
  readonly put: DocumentPut
  readonly result: Result
  readonly purpose: PutPurpose
}

/**
 * Why documents are put, which decides whether a store that is short of space takes them (`Store`, Space; contract §9).
 *
 * | purpose | what is put | below `minFreeSpace` | disk full |
 * |---|---|---|---|
 * | `keep` | data that grow with use: messages for absent sessions, retained messages, new sessions and filters; and data of little importance | refused, like records | refused |
 * | `register` | an entry of the registry that an operator or a thing asks for: a thing, token, session, code, name | put | refused |
 * | `essential` | data without which nothing is removed, revoked or acknowledged, or a client or the service cannot begin | put | put, from the reserve |
 *
 * A put that only removes documents is never refused.
 */
export type PutPurpose = 'keep' | 'register' | 'essential'

/** Small documents by name (`things/<id>`, `tokens/<hash>`): the registry, and the state of doors. */
export interface DocumentStore {
  get(name: string): Promise<Document | undefined>
  /** The same in commit order: after every earlier append, put and transact, also a failed one. */
  getInOrder(name: string): Promise<Document | undefined>
  /** Documents with a prefix, by name, after `after`, at most `limit`. */
  list(prefix: string, options: { after?: string; limit: number }): Promise<readonly [string, Document][]>
  /** The names of `list`. Reads no contents, so the size of the documents does not matter. */
  names(prefix: string, options: { after?: string; limit: number }): Promise<readonly string[]>
  /**
   * Puts documents without reading the present ones, durably and atomically. Shares the commit of waiting appends and puts, and
   * takes effect in the order of the calls.
   *
   * @throws LockLost if `lock` is not held any more at the commit: nothing is put
   */
  put(documents: DocumentPut, purpose: PutPurpose, lock?: Lock): Promise<void>
  /**
   * Reads the named documents, calls `change` with their contents, and puts its result, durably and atomically: nothing else
   * changes these documents in between. It may also put other documents. `change` may be called more than once, and must be pure.
   */
  transact<Result>(
    names: readonly string[],
    change: (documents: readonly (Document | undefined)[]) => DocumentChange<Result>,
  ): Promise<Result>
}

/** A write that was refused for its content (an item of `GET …/errors`, contract §6). */
export interface RefusedWrite {
  /** Receipt time, milliseconds. */
  readonly datetime: number
  /** `magic`: acknowledged and kept as history, but not applied to the state (contract §5). `host`: written by the host. */
  readonly door: 'http' | 'mqtt' | 'host' | 'magic'
  readonly reason: Reason
  readonly message: string
  /** How often a connection was rejected since the last entry, if more than once. */
  readonly count?: number
  readonly errors?: readonly FieldError[]
  readonly id?: string
  /** First 200 characters of the body, tokens redacted. */
  readonly excerpt: string
}

/** The last 100 refused writes and rejected connections of each thing. */
export interface RefusedWrites {
  add(thingId: string, refused: RefusedWrite): Promise<void>
  /** Newest first. */
  list(thingId: string, limit: number): Promise<readonly RefusedWrite[]>
}

export interface MagicRecord {
  readonly key: string
  /** Parsed JSON; undefined if the record has no value. */
  readonly value: unknown
  readonly geo: Geo | undefined
}

/** A magic record in the history of its key. */
export interface MagicHistory {
  readonly value: unknown
  readonly geo?: Geo | undefined
}

/** The known magic resources (contract §5). */
export interface MagicRules {
  /** Checks a record by the rules of its magic resource. @returns the record for the history, or the problem */
  check(record: MagicRecord): MagicHistory | Problem
}
