import type { Ticket } from '../core/async/ticket.ts'
import type { Lock, Locks, TakenLock } from '../core/locks.ts'
import type { Nodes } from '../core/nodes.ts'
import type {
  AggregateQuery,
  Aggregates,
  Append,
  DocumentPut,
  DocumentStore,
  PutPurpose,
  Receipt,
  RecordStore,
  RefusedWrites,
} from '../core/ports.ts'
import type { ReceiptClock } from '../core/time/clock.ts'

/**
 * The contract of a store.
 *
 * **Order.** The records of a resource are ordered by datetime, then by write number, then by place in the write. Write numbers
 * increase in commit order. The appends of one caller commit in the order of the calls. If a commit fails, later calls that are
 * waiting are rejected too. Listeners of `onCommit` are called in commit order, before the append resolves. Calls of `append`,
 * `put` and `transact` take effect on documents in the order of the calls: a `transact` sees every earlier put.
 *
 * **Atomicity.** An append is kept as a whole or not at all, including its write id, states, documents and commit log entry. A
 * `put` or `transact` is kept with all its documents or not at all. This is true whatever happens to the process or the machine. A
 * read never sees part of a write.
 *
 * **Receipt times.** The store assigns each write its receipt time in the commit: the time of the store's clock, or the newest
 * receipt time if that is later. So receipt times never decrease with increasing write numbers, whichever process received the
 * write and whatever the clock of that process shows. There is one exception: a clock more than 24 h behind the newest receipt time
 * is accepted after it has run for 10 minutes without a step. A record without an explicit datetime gets the receipt time as its
 * datetime, in the store, in the log and for listeners.
 *
 * **Locks.** A call that names a lock takes effect only if the lock is held at the commit: the lock was taken, and neither taken
 * again nor released since. Otherwise the call rejects with `LockLost` and has no effect. This is not a failure of the store, and
 * later calls proceed. `append`, `put`, `take` and `release` take effect in the order of the calls, so a lock covers every call
 * before its release. If a call times out or the store fails during it, later calls that name the same lock are rejected too. In a
 * store that is not `shared`, locks end with the process.
 *
 * **Resources.** If an append would give a thing more than `maximumResources` resources, the whole append is rejected with
 * `too_many_resources`. This is not a failure of the store: later calls proceed. The count includes resources that earlier appends
 * in flight create. The limit never rejects an append that creates no resource, repeats a write id or has `store: false`. A
 * resource no longer counts once all its records are removed.
 *
 * **Durability.** When `append`, `put` or `transact` resolves, its content survives the loss of the process, and in a store that is
 * `durable` also the loss of power. When `append` or `put` rejects, nothing of it can be read, now or after a restart, and its
 * documents are as they were before. There is one exception: after `store_timeout`, or when the process dies before the call could
 * reject, the write may or may not be kept, as a whole. The caller has to send it again. If such a write is committed, it is
 * delivered to listeners in commit order and logged like any other write. In a store that is `shared` it is committed before the
 * rejection or never. A `transact` that rejects because the store failed may or may not be kept, as a whole. After a crash the log
 * may again have entries that `trimLog` had removed.
 *
 * **Write numbers.** The number of a commit that is `stored` is never assigned again. If nothing of a write is kept, its number may
 * be assigned again after a restart, unless documents were put after the write was delivered: a document can name the number of any
 * delivered commit. In a store that is `shared` no number is ever assigned again.
 *
 * **Idempotency.** A record with an explicit datetime is not stored again if it equals a stored record of its resource in datetime,
 * value and geo: the first record keeps its place. Two different records of one datetime are both kept. If the id of a write is
 * among the thing's last 1,000 ids and younger than 24 h, the write gets the answer of the first write with that id, and only its
 * documents take effect. If a copy without documents arrives while the first write is in flight, it settles as the first write
 * does.
 *
 * **States.** The current state is the one put last, whatever its datetime. Records under the key of a state do not change it, nor
 * does the state change records. States of a write with `store: false`, or of a write that repeats an id, change nothing.
 *
 * **Snapshots.** A snapshot shows the store between two commits: everything that was appended before the call of `snapshot`, and
 * nothing that was appended after it. Every commit up to its write number was delivered. `latest` returns each state, and the
 * latest record (by datetime, write number and place) of each ordinary resource that has records: each resource once, in any order.
 * Every call of `latest` returns the same content. A page has 1 to 500 resources. It ends early after the record that brings its
 * values to `maximumPageText`. A store that is `shared` may omit a thing that has been removed. `latest` rejects with
 * `store_unavailable` once the snapshot or the store is closed, or a failure has broken the snapshot. `close` of a store closes its
 * snapshots without waiting for their readers. `catchUp` waits like `snapshot`, but reads nothing.
 *
 * **Commit log.** The function passed to `logWhen` decides which commits are logged, by the new content that a commit keeps:
 * records, states, and the new latest record that a removal delivers. Entries are in the order of the write numbers: once an entry
 * can be read, no entry with a smaller number appears. The store calls the function only when it assigns the write number. So if
 * the function's answers change before a call of `snapshot`, the new answers apply to every append after it. The log survives a
 * restart; the function does not. A store that is `shared` logs every commit with new content, because another process may want it.
 * Its `trimLog` leaves the entries above `Nodes.logBounds().trimmableTo`.
 *
 * **Isolation.** No data are shared between two things, or between two keys of a thing, however similar their names are.
 *
 * **Reading.** A page continues the previous page without a gap or a repeat, whatever is appended in between: every record that was
 * present when the first page was read is returned exactly once, unless it was removed. A page ends early, with a cursor, after the
 * record that brings its values to `maximumPageText`.
 *
 * **Aggregates.** `aggregate` summarises the records of the range at the moment of the call: late records count, removed records do
 * not. `first` and `last` are chosen by datetime, write number and place, whatever the order of the answer. Every write that was
 * stored before the call counts, and a write counts as a whole or not at all. Later appends never count. In a store that is
 * `shared` the moment may be later than the call: appends before that moment may count, and records that are removed before the
 * answer arrives may or may not count. A sum has 15 correct significant digits, however many numbers are added and in whatever
 * order, unless the numbers almost cancel each other out. It is infinite only if the result exceeds the range of a double, not if
 * an intermediate sum does. -0 counts as 0. An answer ends early, with `next`, after the bucket that brings its `first` and `last`
 * to `maximumPageText`. It has no `next` if there are no more records.
 *
 * **Removing.** `remove` removes the records that were stored before the call, but not records that are appended while it runs. If
 * it removes the newest record of an ordinary resource, the removal is a commit with a write number of its own. The store delivers
 * and logs it like other commits, with the record that is the latest at that write number. The removal and its log entry are kept
 * together or not at all. `removeThing` delivers nothing, and also removes states and log entries. `removeOld` keeps the newest
 * record of a resource, whatever runs at the same time: it never empties a resource, and never changes its latest record.
 *
 * **Space.** A store that is short of space rejects calls that need space with `store_full`: at first appends that keep records,
 * and puts with the purpose `keep`; when almost no space is left, every put except `essential` ones (`PutPurpose`). A put that only
 * removes documents is never refused. Until there is space again, new `RefusedWrites` are kept only in memory. Reading and removing
 * continue. A store that does not manage its own space, such as a `shared` one, may ignore the purpose.
 *
 * **Concurrency.** Any method may be called at any time. `close` waits for earlier calls, but ends a backup early, since its reader
 * may be slow, and may abort `aggregate`. The aborted calls, and all calls after `close`, reject with `store_unavailable`.
 *
 * **Values.** The value of a record is JSON text. The store returns it unchanged, character by character.
 */
export interface Store extends StoreParts {
  readonly capabilities: StoreCapabilities
  readonly nodes: Nodes
  readonly locks: Locks
  size(): Promise<StoreSize>
  /** May be called more than once: later calls change nothing. */
  close(): Promise<void>
  /** Whether the store works now. A store that only lacks free disk space counts as working, since it can be read. */
  isReady(): boolean
}

interface StoreParts {
  readonly records: RecordStore
  readonly documents: DocumentStore
  readonly refused: RefusedWrites
  readonly clock: ReceiptClock
  /** Streams a consistent copy of the whole store; only for a store with the capability `backup`. */
  backup(): AsyncIterable<Uint8Array>
}

/** The size of a store now, in bytes. */
export interface StoreSize {
  /** Bytes on disk; for a store that is `shared`, bytes in the memory of its servers. */
  readonly bytes: number
  /** Size in bytes at which the store refuses writes; absent if no such limit is known. */
  readonly limit?: number
}

/** The properties in which stores differ. */
export interface StoreCapabilities {
  /** Whether acknowledged content survives the loss of power, and is found when the store is opened again. */
  readonly durable: boolean
  /** Whether several processes can have the store open at the same time. */
  readonly shared: boolean
  /** Whether `backup()` works. */
  readonly backup: boolean
}

/**
 * The implementation of one kind of store; `openStore` makes a `Store` from it. A driver may assume:
 *
 * - No other method is called before `open` has resolved, or after `close` was called.
 * - `close` is called once, when all other calls have settled.
 * - If two appends with the same write id are in flight at the same time, the later append has documents. It is a repeat if the
 *   earlier append is kept, and a first write otherwise. A later append without documents never reaches the driver.
 */
export interface StoreDriver extends Omit<StoreParts, 'records' | 'documents'> {
  readonly capabilities: StoreCapabilities
  readonly records: DriverRecords
  readonly documents: DriverDocuments
  /** `nodes` and `locks` are both present in a store that is `shared`. */
  readonly nodes?: Nodes
  readonly locks?: DriverLocks
  /** @throws Error with a message for the operator if the store has a newer format, is open in another process or is unreadable */
  open(): Promise<void>
  close(): Promise<void>
  isReady(): boolean
  size(): Promise<StoreSize>
}

/**
 * The methods of `RecordStore` as a driver implements them; `openStore` adds the rest.
 *
 * `append` and `put` return undefined, not void: void would accept an async function, although no caller awaits its promise.
 */
export interface DriverRecords extends Omit<RecordStore, 'append' | 'submit' | 'aggregate'> {
  append(write: Append, ticket: CommitTicket<Receipt>): undefined
  /** @param closing aborted when the store closes: a driver that is still reading then rejects with the reason of the signal */
  aggregate(
    thingId: string,
    key: string,
    query: AggregateQuery,
    closing: AbortSignal,
  ): Promise<Aggregates | undefined>
}

export interface DriverDocuments extends Omit<DocumentStore, 'put' | 'getInOrder'> {
  put(documents: DocumentPut, purpose: PutPurpose, ticket: CommitTicket<unknown>, lock?: Lock): undefined
}

/** Locks of a store that is `shared`. The driver of such a store itself refuses every call that names a lost lock. */
export interface DriverLocks extends Pick<Locks, 'onLost'> {
  /**
   * @param ticket resolves when the commits of all earlier calls are delivered; its result is undefined if the lock was not taken
   * @param from if present, the lock is taken only if it is free or held by this owner; if absent, it is always taken
   */
  take(
    name: string,
    ticket: CommitTicket<TakenLock | undefined>,
    from?: { readonly owner: string | undefined },
  ): undefined
  release(lock: Lock, ticket: CommitTicket<unknown>): undefined
}

/**
 * The ticket of an append or a put. The driver resolves the ticket after the commit, or rejects it with an error that the contract
 * of `Store` names. It settles expired tickets too. It settles each ticket before later calls commit, so that after a rejection,
 * later calls with the same lock can be rejected too.
 */
export interface CommitTicket<Result> extends Ticket<Result> {
  /** Whether the caller has stopped waiting for the result: a driver then drops the write unless its commit has begun. */
  readonly expired: boolean
  /** Time of the monotonic clock (`performance.now()`, milliseconds) at which the ticket is due to expire. */
  readonly deadline: number
}

export type {
  AggregateQuery,
  Aggregates,
  Append,
  Commit,
  Document,
  DocumentChange,
  DocumentPut,
  DocumentStore,
  Latest,
  LatestOfThing,
  LatestQuery,
  LogQuery,
  Page,
  PageQuery,
  PutPurpose,
  Receipt,
  RecordStore,
  RefusedWrite,
  RefusedWrites,
  RemovedOld,
  Snapshot,
  TimeRange,
  WriteAnswer,
} from '../core/ports.ts'
export type { BucketSummary, Buckets } from '../core/record/buckets.ts'
