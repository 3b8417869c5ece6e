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
 * grow in commit order. The appends of one caller commit in the order of the calls. If a commit fails, the calls that wait
 * behind it are rejected too. Listeners of `onCommit` are called in commit order, each before its append resolves. Calls of
 * `append`, `put` and `transact` take effect on documents in the order of the calls: a `transact` sees every earlier put.
 *
 * **Atomicity.** An append is kept as a whole or not at all, with its write id, its states, its documents and its entry
 * in the commit log. A `put` or `transact` is kept with all its documents or not at all. This holds whatever happens to the
 * process or the machine. A read never sees part of a write.
 *
 * **Receipt times.** The store gives each write its receipt time in the commit: the time of its clock, or the newest receipt time
 * if that is later. So receipt times never go back in the order of the write numbers, whichever process took the write and
 * whatever its own clock shows. There is one exception: a clock that is more than 24 h behind is believed after 10 minutes
 * without a step. A record without an explicit datetime gets the receipt time, in the store, in the log and for listeners.
 *
 * **Locks.** A call that names a lock takes effect only if the lock is held at the commit: the lock was taken, and neither
 * taken again nor released since. Otherwise the call rejects with `LockLost`, and nothing of it is kept; that is no failure
 * of the store, and the calls behind it go on. `append`, `put`, `take` and `release` take effect in the order of the calls, so a
 * lock covers every call before its release. If a call times out or the store fails it, the calls behind it that name the
 * same lock are rejected too. In a store that is not `shared`, locks end with the process.
 *
 * **Resources.** If an append would give its thing more resources than its `maximumResources`, all of it is rejected with
 * `too_many_resources`. This is no failure of the store: the calls behind it go on. Resources that earlier appends in flight
 * make count too. An append is never refused for this limit if it makes no new
 * resource, repeats an id or keeps nothing. A resource whose records are all removed frees its place.
 *
 * **Durability.** When `append`, `put` or `transact` resolves, its content survives the loss of the process, and in a store
 * that is `durable` also the loss of power. When `append` or `put` rejects, nothing of it can be read, now or after a
 * restart, and its documents are as they were before. There is one exception: after `store_timeout`, or when the process
 * dies before the call could reject, the write may or may not be kept, as a whole. The caller has to send it again. If such
 * a write is committed, it is delivered to listeners in its place, and the log has it, like any other. In a store that is
 * `shared` it is committed before the rejection or never. A `transact` that the store failed may or may not be kept, as a
 * whole. After a crash the log may again have entries that `trimLog` had removed.
 *
 * **Write numbers.** The number of a commit that is `stored` is never given again. If nothing of a write is kept, its number
 * may be given again after a restart, until documents are put after it was delivered: a document can name the number of any
 * commit that was delivered. In a store that is `shared` no number is ever given again.
 *
 * **Idempotency.** A record with an explicit datetime is not stored again if it equals a stored record of its resource in
 * datetime, value and geo: the first record keeps its place. Two different records of one datetime are both kept. If
 * the id of a write is among the thing's last 1,000 ids and younger than 24 h, the write gets the answer of the first write
 * with that id, and only its documents take effect. If a copy without documents arrives while the first write is in
 * flight, it resolves or rejects as the first write does.
 *
 * **States.** The state that was put last is the state, whatever its datetime. Records under its key do not change a state,
 * and a state does not change them. States of a write with `store: false`, or of a write that repeats an id, change nothing.
 *
 * **Snapshots.** A snapshot is the store between two commits. It has everything that was appended before the call, and
 * nothing that was appended after it. Every commit up to its write number was delivered. `latest` gives each state, and the latest
 * record (by datetime, write number and place) of each ordinary resource that has records: each resource once, in any order.
 * Every call of `latest` gives the same content. A page has 1..500 resources. It ends with the record with which its values
 * reach `maximumPageText`. A store that is `shared` may omit a thing that was removed since. `latest` rejects with `store_unavailable` once
 * the snapshot or the store is closed, or a failure of the store has broken the snapshot. `close` of a store closes its
 * snapshots and does not wait for their readers. `catchUp` waits for the same commits as `snapshot`, and reads nothing.
 *
 * **Commit log.** `logWhen` decides about the new content that a commit keeps: records, states, and the new latest record
 * that a removal delivers. If it wants the commit, the log has it. Entries are in the order of the write numbers: once an entry
 * can be read, no entry with a smaller number appears. The store asks `logWhen` only when it gives the write its number.
 * So if the answer changes before a call of `snapshot`, the new answer holds for every append after that call. The log
 * survives a restart; the function given to `logWhen` does not. A store that is `shared` logs all such commits, because
 * another process may want them. There `trimLog` leaves the entries above `Nodes.logBounds().trimmableTo`.
 *
 * **Isolation.** Things and keys share nothing, however alike their names are.
 *
 * **Reading.** A page follows the page before it without gap or repeat, whatever is appended in between: every record that
 * was present when the first page was read is given once, unless it was removed. A page ends early, with a cursor, after
 * the record with which its values reach `maximumPageText`.
 *
 * **Aggregates.** `aggregate` summarises the records of the range as they are at the moment of the call: late records count,
 * removed records do not. `first` and `last` are by datetime, write number and place, whatever the order of the answer is. Every
 * write that was stored before the call counts, and a write counts as a whole or not at all. Later appends never
 * count. In a store that is `shared` the moment may be later than the call: appends before that moment may count, and records
 * that are removed before the answer comes may count or not. A sum has 15 correct significant digits, however many numbers are
 * added and in whatever order, unless the numbers almost cancel each other out. It is infinite only if the result
 * leaves the range of a double, not if an intermediate sum does. -0 counts as 0. An answer ends early, with `next`, after the
 * bucket with which its `first` and `last` reach `maximumPageText`. It has no `next` if there are no more records.
 *
 * **Removing.** `remove` removes the records that were stored before the call. It leaves records that are appended while it
 * runs. If it removes the newest record of an ordinary resource, the removal is a commit with a write number of its own. The
 * store delivers and logs it like other commits, with the record that is the latest at that write number. The removal and its
 * log entry are kept together or not at all. `removeThing` delivers nothing, and also removes states and log entries. `removeOld`
 * leaves the newest record of a resource, whatever runs beside it: it never empties a resource, and never changes its
 * latest record.
 *
 * **Space.** A store that is short of space rejects calls that need some with `store_full`: first appends that keep records, and
 * puts whose purpose is `keep`; when almost no space is left, every put but the `essential` ones (`PutPurpose`). A put that only
 * removes is never refused. Refused writes are then kept in memory alone. Reading and removing go on. A store whose space
 * others manage, such as a `shared` one, may ignore the purpose.
 *
 * **Concurrency.** Every method may be called at any time, without waiting for another. `close` waits for the calls before
 * it, but breaks off a backup, whose reader may be slow, and may break off `aggregate`, which is then rejected like the calls after
 * it: with `store_unavailable`.
 *
 * **Values.** The value of a record is JSON text. The store returns it character by character as it was given.
 */
export interface Store extends StoreParts {
  readonly capabilities: StoreCapabilities
  readonly nodes: Nodes
  readonly locks: Locks
  size(): Promise<StoreSize>
  /** May be called again: the later calls change nothing. */
  close(): Promise<void>
  /** Whether the store works now. A store that only lacks free disk works: reads go on. */
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
  /** Bytes on the disk; for a store that is `shared`, bytes in the memory of its servers. */
  readonly bytes: number
  /** Size at which the store refuses writes; absent if none is known. */
  readonly limit?: number
}

/** The abilities of a store, by which the conformance suite and the server decide. */
export interface StoreCapabilities {
  /** Acknowledged content survives the loss of power, and a second `open` finds it. */
  readonly durable: boolean
  /** Several processes can have the store open at once. */
  readonly shared: boolean
  /** `backup()` works. */
  readonly backup: boolean
}

/**
 * A store as its author writes it; `openStore` makes a `Store` of it. A driver may assume:
 *
 * - Nothing is called before `open` has resolved, or after `close` was called.
 * - `close` is called once, when all other calls have settled.
 * - If two appends with one write id are in flight together, the later one carries documents. It is a repeat of the earlier
 *   append if that one is kept, and a first write otherwise.
 */
export interface StoreDriver extends Omit<StoreParts, 'records' | 'documents'> {
  readonly capabilities: StoreCapabilities
  readonly records: DriverRecords
  readonly documents: DriverDocuments
  /** Both present in a store that is `shared`. */
  readonly nodes?: Nodes
  readonly locks?: DriverLocks
  /** @throws Error with a message for the operator: the store has a newer format, is open in another process, or cannot be read */
  open(): Promise<void>
  close(): Promise<void>
  isReady(): boolean
  size(): Promise<StoreSize>
}

/**
 * The calls of `RecordStore`, less those that `openStore` derives from the others.
 *
 * `append` and `put` return undefined, not void: with void the compiler would accept an async function, whose promise
 * nobody awaits.
 */
export interface DriverRecords extends Omit<RecordStore, 'append' | 'submit' | 'aggregate'> {
  append(write: Append, ticket: CommitTicket<Receipt>): undefined
  /** @param closing aborted when the store closes: a driver that reads for long then rejects with the reason of the signal */
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

/** Locks of a store that is `shared`. The driver itself refuses every call that names a lost lock. */
export interface DriverLocks extends Pick<Locks, 'onLost'> {
  /**
   * @param ticket resolves when every earlier call was delivered; with undefined if another owner has the lock
   * @param from the owner from whom the lock may be taken, if it is not free; absent: any owner
   */
  take(
    name: string,
    ticket: CommitTicket<TakenLock | undefined>,
    from?: { readonly owner: string | undefined },
  ): undefined
  release(lock: Lock, ticket: CommitTicket<unknown>): undefined
}

/**
 * The ticket of an append or a put. The driver resolves it after the commit, or rejects it with an error that the contract
 * of `Store` names, even if it has expired. It does so before it commits later calls, so that those that name the same lock
 * can be given up. `promised` makes a promise of a ticket, `settle` settles a ticket by a promise.
 */
export interface CommitTicket<Result> extends Ticket<Result> {
  /** Nobody waits for the result any more: a driver drops the write unless its commit has begun. */
  readonly expired: boolean
  /** Time of the monotonic clock (`performance.now()`, milliseconds) after which the ticket expires. */
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
