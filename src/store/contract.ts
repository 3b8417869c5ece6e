import type { Nodes } from '../core/nodes.ts'
import type {
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
  Receipt,
  RecordStore,
  RefusedWrite,
  RefusedWrites,
  RemovedOld,
  Snapshot,
  TimeRange,
  WriteAnswer,
} from '../core/ports.ts'
import type { Ticket } from '../core/ticket.ts'

/**
 * The contract of a store.
 *
 * **Order.** The records of a resource are ordered by datetime, then by write number, then by place in the write.
 * Write numbers follow commit order; appends of one caller commit in the order in which they were called, and what
 * waits behind a commit that fails is rejected with it. Listeners of `onCommit` are called in commit order, each
 * before its append resolves. An `append`, `put` or `transact` takes effect on documents before any of them that is
 * called after it; a `transact` sees what was put before it.
 *
 * **Atomicity.** An append is kept whole or not at all, its write id, its states, its documents and its entry in the
 * commit log included, and a `put` or `transact` with all its documents, whatever happens to the process or the
 * machine. A read never sees part of a write.
 *
 * **Resources.** An append that would give its thing more resources than its `maximumResources` rejects with
 * `too_many_resources`, as a whole, and is no error of the store: what waits behind it goes on. Of appends that are in
 * flight together each is judged by what those before it have made; one that makes no resource is never refused for it,
 * nor one that repeats an id or keeps nothing. A resource whose records are all removed frees its place.
 *
 * **Durability.** When `append`, `put` or `transact` resolves, its content survives the loss of the process and, in
 * a store that is `durable`, the loss of power. When `append` or `put` rejects, nothing of it can be read, now or
 * after a restart, and its documents are as they were before; one exception: after `store_timeout`, or when the
 * process dies before it could reject, it may or may not be kept, as a whole, and is to be sent again; if it is kept,
 * it is told and logged with `broadcast: false`; in a store that is `shared` it took effect before that, and is told as it
 * was sent, or never will. A `transact` that the store failed may or may not be kept, as a
 * whole. What `trimLog` took may be there again after a crash.
 *
 * **Idempotency.** A record with an explicit datetime that equals a stored record of its resource in datetime,
 * value and geo is not stored again: the first one keeps its place. Two records of one datetime that differ are
 * both kept. A write whose id is among the thing's last 1,000, and younger than 24 h, has no effect but on its
 * documents, and gets the first one's answer; a copy without documents that arrives while the first is in flight
 * shares its fate.
 *
 * **States.** A state is what was put last, whatever its datetime; the records under its key do not touch it, nor it
 * them. States of a write with `store: false`, or of one that repeats an id, change nothing.
 *
 * **Snapshots.** A snapshot is the store between two commits: all of what was appended before the call is in it, and
 * nothing that was appended after. `latest` gives what is latest then, by datetime, write number and place, of each
 * ordinary resource that holds records, and each state, in any order, a resource once: in pages of 1..500, that end
 * with the record with which their values reach `maximumPageText`, however often it is called. Of a thing that was removed
 * since, a store that is `shared` may show nothing. It rejects with
 * `store_unavailable` once the snapshot or the store is closed or a failure of the store has broken the snapshot; a
 * store's `close` closes its snapshots and waits for no reader of them.
 *
 * **Commit log.** What `logWhen` wants of what is kept and new (records, states, what a removal tells) is there in the
 * order of the write numbers, and nothing appears behind an entry that can be read. It is asked as late as a write's
 * number is given: an answer that changes before a call of `snapshot` holds for all that is appended after the call.
 * `logWhen` is not remembered over a restart, the log is. A store that is `shared` logs what no one wants, too: another
 * process may; and `trimLog` leaves there what is younger than `Nodes.logBounds` says.
 *
 * **Isolation.** Things and keys share nothing, however alike their names are.
 *
 * **Reading.** A page follows the page before it without gap or repeat: no record that was present when the first
 * page was read is skipped or given twice, unless it was removed, whatever is appended in between. A page ends early,
 * with a cursor, after the record with which its values reach `maximumPageText`.
 *
 * **Removing.** `remove` takes what was stored before it was called, and leaves what is appended while it runs. If it
 * takes the newest record of an ordinary resource, that is a commit with a write number of its own, told and logged
 * like others: what is latest then is exact at that place, and neither is kept without the other. `removeThing` tells
 * nothing, and takes states and log entries too. `removeOld` leaves the newest record of a resource whatever runs beside it,
 * and so neither empties a resource nor changes what is latest.
 *
 * **Concurrency.** Every method may be called at any time, without waiting for another. `close` waits for what
 * was called before it, but breaks off a backup, whose reader may be slow; what is called after it rejects with
 * `store_unavailable`.
 *
 * **Values.** The value of a record is JSON text and comes back to the letter.
 */
export interface Store extends StoreParts {
  readonly capabilities: StoreCapabilities
  readonly nodes: Nodes
  size(): Promise<StoreSize>
  /** Idempotent. */
  close(): Promise<void>
  /** Whether the store works now. One that only lacks free disk does: reads go on. */
  isReady(): boolean
}

interface StoreParts {
  readonly records: RecordStore
  readonly documents: DocumentStore
  readonly refused: RefusedWrites
  /** A consistent copy of everything, as a stream of bytes; only in a store that has `backup`. */
  backup(): AsyncIterable<Uint8Array>
}

/** What a store takes now, bytes. */
export interface StoreSize {
  /** On the disk; of a store that is `shared` in the memory of its servers. */
  readonly bytes: number
  /** At which the store takes no more; absent: none is known. */
  readonly limit?: number
}

/** What a store can do; the conformance suite and the server go by it. */
export interface StoreCapabilities {
  /** What is acknowledged survives the loss of power, and a second `open` finds it. */
  readonly durable: boolean
  /** Several processes can have it open. */
  readonly shared: boolean
  readonly backup: boolean
}

/**
 * What an implementor writes; `openStore` makes a `Store` of it. A driver may assume that nothing is called before
 * `open` has resolved or after `close` was called, that `close` is called once, when everything else has settled,
 * and that of two appends with one write id that are in flight together the later one carries documents: it is then
 * a repeat of the earlier one, unless that is not kept.
 */
export interface StoreDriver extends Omit<StoreParts, 'records' | 'documents'> {
  readonly capabilities: StoreCapabilities
  readonly records: DriverRecords
  readonly documents: DriverDocuments
  /** In a store that is `shared`. */
  readonly nodes?: Nodes
  /** @throws Error with a message for the operator: newer format, held by another process, unreadable. */
  open(): Promise<void>
  close(): Promise<void>
  isReady(): boolean
  size(): Promise<StoreSize>
}

/** `append` and `put` say that they return undefined: as void, the compiler would take a function whose promise nobody awaits. */
export interface DriverRecords extends Omit<RecordStore, 'append' | 'submit'> {
  append(write: Append, ticket: CommitTicket<Receipt>): undefined
}

export interface DriverDocuments extends Omit<DocumentStore, 'put'> {
  put(documents: DocumentPut, ticket: CommitTicket<unknown>): undefined
}

/**
 * An append or a put that waits for its commit: resolved when it is committed, rejected in the words of `Store`, whether or
 * not it has expired. `promised` and `settle` make a promise of it, and the other way round.
 */
export interface CommitTicket<Result> extends Ticket<Result> {
  /** Not waited for any more: what is not yet begun is to be dropped. */
  readonly expired: boolean
  /** It expires behind this, by the monotonic clock (`performance.now()`). */
  readonly deadline: number
}

export type {
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
  Receipt,
  RecordStore,
  RefusedWrite,
  RefusedWrites,
  RemovedOld,
  Snapshot,
  TimeRange,
  WriteAnswer,
}
