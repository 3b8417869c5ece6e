import type { FieldError, Reason } from '../errors.ts'
import type { Ticket } from './async/ticket.ts'
import type { Lock } from './locks.ts'
import type { BucketSummary, Buckets } from './record/buckets.ts'
import type { Geo } from './record/geo.ts'
import type { Problem } from './record/problem.ts'
import type { AcceptedRecord, NewRecord, StoredRecord } from './record/record.ts'

/**
 * What the core and the doors need from the outside. The promises behind these methods (order, atomicity,
 * durability, idempotency, concurrency) are in `store/contract.ts`; `store/` implements them.
 */

/** Answer to a write that was taken. */
export interface WriteAnswer {
  /** Every record that was refused, in order; only a `partial` write can have any. */
  readonly rejected?: readonly FieldError[]
}

/** A validated write on its way into the store. */
export interface Append {
  readonly thingId: string
  /** In the order of the write. None where only states are put. */
  readonly records: readonly NewRecord[]
  /** False: the records are numbered and delivered to listeners, also those that are stored already, and not kept (contract §3). */
  readonly store: boolean
  /** Write id, 1..64 printable ASCII: a later write of the thing that carries it has no effect. */
  readonly id?: string | undefined
  /** What a later write with the same id is answered. */
  readonly answer: WriteAnswer
  /** Whether a live message is wanted; travels with the commit. */
  readonly broadcast: boolean
  /**
   * Most resources that the thing may have: the write is refused if it would make one more; as a whole, with `partial` too,
   * since only the store knows which resources there are. Absent: any number. A resource is a key, ordinary or magic, that
   * holds records; where the thing has more already, it keeps them.
   */
  readonly maximumResources?: number
  /**
   * New states of resources of the thing, kept with the records; `store: false` only delivers them. Only magic resources
   * have a state: what is latest of any other resource is its newest record.
   */
  readonly states?: readonly Latest[]
  /**
   * Documents to put in the same commit as the records: both are durable or neither. Put also where the write repeats
   * an id, and where everything of it was stored before. With a write that takes no room they are `essential`.
   */
  readonly documents?: DocumentPut | undefined
  /** In whose name it is: refused with `LockLost`, as a whole, if that is not held any more at the commit. */
  readonly lock?: Lock | undefined
  /**
   * The connection that it came over, whose writes commit in the order in which they were handed in. It may pass long writes
   * of other connections to other things. Absent: it passes nothing.
   */
  readonly sender?: object | undefined
}

/** What is latest of a resource: its newest record by datetime, then write number, then place; or its state. */
export interface Latest {
  readonly key: string
  /** undefined: nothing (any more). */
  readonly record: StoredRecord | undefined
}

/** What the store says of an append once it is durable. */
export interface Receipt {
  /** Place of the write in commit order, from 1; 0 for a write that repeats an id and so had no effect. */
  readonly writeNumber: number
  /** The answer to give: of the first write that carried the id, where this one repeats it. */
  readonly answer: WriteAnswer
}

/** A committed write, delivered to listeners in commit order. */
export interface Commit {
  readonly thingId: string
  readonly writeNumber: number
  /** Receipt time, milliseconds. */
  readonly receivedAt: number
  /** Records of the write, in its order, less those that were stored before (contract §4, resend (a)). */
  readonly records: readonly AcceptedRecord[]
  /** States that were put; or, after a removal that took the newest record of a resource, what is latest of it now. */
  readonly latest: readonly Latest[]
  /** False: nothing of it was kept, and its number may be given again after a crash. */
  readonly stored: boolean
  readonly broadcast: boolean
  /** Another node has committed it. */
  readonly isElsewhere?: true
  /** Where `records` and `latest` are only parsed when they are read: what is known before that. */
  readonly outline?: CommitOutline
}

export interface CommitOutline {
  /** How many. */
  readonly records: number
  /** Whether one of them has a magic key. */
  readonly hasMagic: boolean
  /** About how many bytes the commit takes. */
  readonly bytes: number
}

/** Part of the commit log. */
export interface LogQuery {
  /** Write number, exclusive. */
  readonly after: number
  /** Write number, exclusive; Infinity for the end. */
  readonly before: number
  /** Whether commits of a thing are wanted, asked for each commit; absent: of every thing. What is not wanted costs little. */
  readonly isOf?: (thingId: string) => boolean
  readonly order: 'asc' | 'desc'
  /** At least 1; a page is shorter where its entries are large. Only an empty one means that there is no more. */
  readonly limit: number
}

/** What is latest in one or all resources of one or all things. */
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

/** The store as it was after one commit. To be closed. */
export interface Snapshot {
  /** Of that commit: everything up to here is in it, and nothing after. */
  readonly writeNumber: number
  /**
   * What is latest of each resource that the query selects, a page at a time; costs in proportion to what it selects. A
   * magic resource is there by its state only: not its history.
   */
  latest(query: LatestQuery): AsyncIterable<readonly LatestOfThing[]>
  close(): Promise<void>
}

/** Part of a resource's time line. */
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

/** Most characters of values of a page, but for its last record: bounds what a slow reader keeps in memory. */
export const maximumPageText = 1024 * 1024

export interface Page {
  /** `limit` of them if there are so many and their values are not too large together. */
  readonly records: readonly StoredRecord[]
  /** Opaque; there is more after the last record of this page. */
  readonly next?: string
}

export interface AggregateQuery extends TimeRange {
  /** Of the buckets in the answer. */
  readonly order: 'asc' | 'desc'
  /** Most buckets of the answer, at least 1; it can have fewer, see `Aggregates`. */
  readonly limit: number
  readonly buckets: Buckets
}

export interface Aggregates {
  /** `limit` of them if there are so many, and their `first` and `last` have fewer than `maximumPageText` characters together. */
  readonly buckets: readonly BucketSummary[]
  /** If there is more: in ascending order `from` of the rest, in descending order `to` of it; milliseconds. */
  readonly next?: number
}

/** What came of one piece of `removeOld`. */
export interface RemovedOld {
  /** How many records were removed. */
  readonly count: number
  /** Where the next piece begins, opaque; absent: there is none. */
  readonly next?: string
}

/** The time-ordered records of all things. */
export interface RecordStore {
  /** @throws ThingwireError too_many_resources: nothing of the write was kept */
  append(write: Append): Promise<Receipt>
  /** The same for whoever has many under way: settles the ticket. */
  submit(write: Append, ticket: Ticket<Receipt>): void
  /** The answer of the write that carried this id, waiting for one in flight; undefined if none is known. */
  answerOf(thingId: string, id: string, now: number): Promise<WriteAnswer | undefined>
  /** @returns undefined if nothing was ever stored under the key. @throws ThingwireError invalid_cursor */
  read(thingId: string, key: string, query: PageQuery): Promise<Page | undefined>
  /** Summaries of the buckets in which the range has records. @returns undefined if nothing was ever stored under the key */
  aggregate(thingId: string, key: string, query: AggregateQuery): Promise<Aggregates | undefined>
  /** Ids of the things that hold records, and perhaps of some that do not, sorted by their bytes: at most `limit` behind `after`. */
  things(page: { readonly after?: string; readonly limit: number }): Promise<readonly string[]>
  /** Keys that hold records now, sorted by their bytes. */
  resources(thingId: string): Promise<readonly string[]>
  /** State of a magic resource; undefined if it has none. */
  state(thingId: string, key: string): Promise<StoredRecord | undefined>
  /** Sees everything that was appended before the call. */
  snapshot(): Promise<Snapshot>
  /**
   * Resolves when everything that was committed before the call, by whichever node, was delivered, and everything
   * that was appended here before it.
   *
   * @returns the number of the newest write that was delivered, 0 if there is none
   */
  catchUp(): Promise<number>
  /**
   * Removes what was stored before the call; returns how many records that were. Where the newest record of an ordinary
   * resource went, the new latest is delivered to listeners (`Commit.latest`) before this resolves.
   */
  remove(thingId: string, key: string, range: TimeRange): Promise<number>
  /**
   * Removes a piece of what a resource holds from before the datetime `before` (milliseconds), oldest first; never its newest
   * record, so that what is latest stays and nothing is delivered. Of what is appended meanwhile some may go, too. Small enough to
   * hold up no write; a crash may bring some of it back.
   *
   * @param from `next` of the piece before
   * @param lock in whose name it is. @throws LockLost if that is not held any more: nothing is removed
   */
  removeOld(thingId: string, key: string, before: number, from?: string, lock?: Lock): Promise<RemovedOld>
  /** Removes everything kept of a thing: records, write ids, refused writes. Can be called again after a crash. */
  removeThing(thingId: string): Promise<void>
  /**
   * Calls `listener` for every commit, in commit order, before the append resolves; it must not throw. `records` may
   * be empty: a write of which everything was stored before. Returns how to stop.
   */
  onCommit(listener: (commit: Commit) => void): () => void
  /**
   * Says which commits are kept in the commit log, in the batch of the commit itself. Asked while a write of the thing is
   * put together, after every snapshot that was asked for before the write. Default: none. Only what is stored is kept.
   */
  logWhen(isWanted: (write: Pick<Commit, 'thingId' | 'records' | 'broadcast'>) => boolean): void
  /** Commits of the log by write number, as they were delivered to listeners. */
  readLog(query: LogQuery): Promise<readonly Commit[]>
  /**
   * Removes these commits from the log, in a store that is shared only those up to `Nodes.logBounds().trimmableTo`.
   *
   * @param lock as of `removeOld`
   */
  trimLog(writeNumbers: readonly number[], lock?: Lock): Promise<void>
}

/** What follows a commit at its own pace, and can fall behind. */
export interface BackPressure {
  /** Resolves when writes may go on; undefined: they may now. */
  room(): Promise<void> | undefined
}

/** How much each thing may write (contract §9). */
export interface WriteLimits {
  readonly rate: WriteRate
  readonly options: { readonly resourcesPerThing: number }
  /** A limit was met. */
  count(limit: 'too_many_waiting' | 'too_many_resources'): void
}

/**
 * Limits each thing to its writes and records a second, both doors together. A thing that has written more than its burst is
 * in debt, until so much time has passed that what it wrote is paid.
 */
export interface WriteRate {
  /**
   * A write arrives, and is paid for whatever comes of it. It may be larger than what is left. To be called in the order in
   * which the writes of a thing are to be stored.
   *
   * @returns undefined: it may go on now. Over MQTT, where the thing is in debt: resolves when it may, in the order of the
   * calls. Rejects with unknown_thing if the thing is removed meanwhile
   * @throws ThingwireError write_rate_exceeded, record_rate_exceeded: the thing is in debt, over MQTT for more than 30 s
   * or with so much waiting that no more is held in memory; the write is not paid for
   */
  enter(write: {
    readonly thingId: string
    readonly door: 'http' | 'mqtt' | 'host'
    readonly body: Uint8Array
  }): Promise<void> | undefined
  /** How many records a write turned out to have, right after its `enter`. */
  charge(thingId: string, records: number): void
  /** Whether a write that was dropped may be noted: one a second and thing; the rest is counted alone. */
  mayNote(thingId: string): boolean
  /** Lets waiting writes go on, and later ones pass, while a door closes. Returns how to end this. */
  drain(): () => void
}

/** A small JSON document. */
export type Document = Readonly<Record<string, unknown>>

/** New content by document name; null removes. Empty changes nothing. */
export type DocumentPut = Readonly<Record<string, Document | null>>

/** A change of documents, decided on their present content. */
export interface DocumentChange<Result> {
  readonly put: DocumentPut
  readonly result: Result
  readonly purpose: PutPurpose
}

/**
 * Why documents are put: whether a store that is short of space takes them (`Store`, Space; contract §9).
 *
 * | purpose | what is put | below `minFreeSpace` | disk full |
 * |---|---|---|---|
 * | `keep` | what grows with use: messages for sessions that are away, retained messages, new sessions and filters; and what nobody asked for and little is lost without | refused, like records | refused |
 * | `register` | an entry of the registry that an operator or a thing asks for: a thing, token, session, code, name | put | refused |
 * | `essential` | without it nothing is removed, revoked or acknowledged, or a client or the service cannot begin | put | put, from the reserve |
 *
 * A put that only removes documents is never refused.
 */
export type PutPurpose = 'keep' | 'register' | 'essential'

/** Small documents by name (`things/<id>`, `tokens/<hash>`): the registry, and what a door has to remember. */
export interface DocumentStore {
  get(name: string): Promise<Document | undefined>
  /** The same in commit order: behind every append, put and transact that was called before, also one that rejects. */
  getInOrder(name: string): Promise<Document | undefined>
  /** Documents whose name starts with `prefix`, by name, after `after`, at most `limit`. */
  list(prefix: string, options: { after?: string; limit: number }): Promise<readonly [string, Document][]>
  /** The names that `list` would give. Reads no content, so it costs the same however large the documents are. */
  names(prefix: string, options: { after?: string; limit: number }): Promise<readonly string[]>
  /**
   * Puts documents without looking at what is there, durably and as one. Shares the commit of the appends and puts
   * that wait with it, and takes effect in the order of the calls.
   *
   * @param lock in whose name it is. @throws LockLost if that is not held any more at the commit: nothing is put
   */
  put(documents: DocumentPut, purpose: PutPurpose, lock?: Lock): Promise<void>
  /**
   * Reads the named documents, calls `change` with their contents, and puts what it returns, durably and as one:
   * nothing else changes these documents in between. It may put documents that were not read. `change` may be called
   * more than once, and must be pure.
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
  /** `magic`: acknowledged and kept as history, but not applied to the state (contract §5). `host`: of the program around the service. */
  readonly door: 'http' | 'mqtt' | 'host' | 'magic'
  readonly reason: Reason
  readonly message: string
  /** How often it came since it was listed last, where that is more than once; of connections that were turned away. */
  readonly count?: number
  readonly errors?: readonly FieldError[]
  readonly id?: string
  /** First 200 characters of the body, tokens redacted. */
  readonly excerpt: string
}

/** The last 100 refused writes of each thing, and why its connections were turned away. */
export interface RefusedWrites {
  add(thingId: string, refused: RefusedWrite): Promise<void>
  /** Newest first. */
  list(thingId: string, limit: number): Promise<readonly RefusedWrite[]>
}

/** A record whose key starts with `$`, as its magic resource sees it. */
export interface MagicRecord {
  readonly key: string
  /** Parsed JSON; undefined if the record has none. */
  readonly value: unknown
  readonly geo: Geo | undefined
}

/** What a magic record is in the history of its key. */
export interface MagicHistory {
  readonly value: unknown
  readonly geo?: Geo | undefined
}

/** The magic resources that are known (contract §5). */
export interface MagicRules {
  /**
   * Checks a record by the rules of its magic resource.
   * @returns what to keep of it as history, or what is wrong.
   */
  check(record: MagicRecord): MagicHistory | Problem
}
