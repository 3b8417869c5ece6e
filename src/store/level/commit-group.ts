import { Slices } from '../../core/async/slices.ts'
import { type AcceptedRecord, receive } from '../../core/record/record.ts'
import { ThingwireError } from '../../errors.ts'
import type { Append, Commit, CommitTicket, Latest, Receipt } from '../contract.ts'
import type { ReceiptClock } from '../receipt-clock.ts'
import type { Batch } from './database/database.ts'
import type { Counters, Head } from './database/head.ts'
import type { EncodedDocuments } from './documents.ts'
import type { LevelCommitLog } from './log/commit-log.ts'
import { StagedRecords, type StagedRecordsParts } from './staging/staged-records.ts'
import { keysOfStates, stageStates } from './states.ts'
import type { KnownWrite, WriteIds } from './write-ids.ts'

/** An append in the queue, or a put of documents without an append. */
export interface LevelPendingCommit {
  readonly write?: Append
  readonly documents: EncodedDocuments
  readonly ticket: CommitTicket<Receipt>
  /** Receipt time of the write, milliseconds; NaN until it is assigned. */
  receivedAt: number
}

export interface GroupParts extends StagedRecordsParts {
  readonly head: Head
  /** Assigns the receipt times. */
  readonly clock: Pick<ReceiptClock, 'receive'>
  readonly writeIds: WriteIds
  readonly log: LevelCommitLog
  /** Whether there is too little free disk space to keep records. */
  readonly isFull: () => boolean
  /** Called when a thing has write ids that can be removed. */
  readonly trimWriteIds: (thingId: string) => void
}

interface Outcome {
  readonly receipt: Receipt
  readonly commit?: Commit
}

const noStates: readonly Latest[] = []

/** A write with at most this many records is staged in one turn of the event loop, which takes one or two milliseconds. */
const mostAtOnce = 1_000
/** Number of records of a longer write that are staged between two checks of the time slice. */
const sliver = 64

/** Outcome of a put of documents without an append. */
const noWrite: Outcome = { receipt: { writeNumber: 0, answer: {} } }

/**
 * One group of commits, which becomes one LevelDB batch. Either `load` reads the data for all items, and `stage` stages the items
 * in order; or `prepare` stages items one by one, until an item needs a read. Finally, `write` writes the group. Changes in memory
 * take effect only when the group is on the disk.
 */
export class CommitGroup {
  /** Outcomes of the staged items, in order. They apply only if the write succeeds. */
  readonly outcomes: (Outcome | Error)[] = []
  readonly #parts: GroupParts
  readonly #batch: Batch
  /** Time slices in which a long group is staged. */
  readonly slices = new Slices()
  /** The staged records, from which the next group continues. */
  readonly records: StagedRecords
  /** Stored values of the documents and states that the group replaces, and of the chunks that it may replace. */
  readonly #before: [key: Buffer, bytes: Buffer | undefined][] = []
  readonly #knownWrites = new Map<string, KnownWrite | undefined>()
  /** Each logged commit, with its entry. */
  readonly #logged: [commit: Commit, entry: Buffer][] = []
  #keepsAnything = false
  #writeNumber: number
  #newestReceipt: number

  /** @param behind the previous group, if it is still being written */
  constructor(parts: GroupParts, behind?: CommitGroup) {
    this.#parts = parts
    this.#batch = parts.database.batch()
    const { writeNumber, nextResource, newestReceipt } = behind?.counters ?? parts.head.counters
    this.records = new StagedRecords(parts, this.#batch, nextResource, behind?.records)
    this.#writeNumber = writeNumber
    this.#newestReceipt = newestReceipt
  }

  /** Assigns the writes their receipt times, and reads the data that `stage` needs. */
  async load(pending: readonly LevelPendingCommit[]): Promise<void> {
    for (const each of pending) this.#receive(each)
    const writes = pending.flatMap(({ write }) => write ?? [])
    const chunks = this.records.load(writes.filter(({ store }) => store))
    await Promise.all([this.#loadKnownWrites(pending), this.#loadBefore(pending), chunks])
    for (const entry of await chunks) this.#before.push([...entry])
  }

  #receive(pending: LevelPendingCommit): void {
    if (!pending.write) return
    this.#newestReceipt = this.#parts.clock.receive()
    pending.receivedAt = this.#newestReceipt
    receive(pending.write.records, this.#newestReceipt)
  }

  async #loadKnownWrites(pending: readonly LevelPendingCommit[]): Promise<void> {
    const loading: Promise<void>[] = []
    for (const { write, receivedAt } of pending) {
      if (write?.id !== undefined) loading.push(this.#loadKnownWrite(write.thingId, write.id, receivedAt))
    }
    await Promise.all(loading)
  }

  async #loadKnownWrite(thingId: string, id: string, receivedAt: number): Promise<void> {
    this.#knownWrites.set(`${thingId} ${id}`, await this.#parts.writeIds.find(thingId, id, receivedAt))
  }

  /** Reads the values that the group overwrites: `Database` needs them to undo a failed write. (LevelDB handles crashes itself.) */
  async #loadBefore(pending: readonly LevelPendingCommit[]): Promise<void> {
    const keys: Buffer[] = []
    for (const { write, documents } of pending) {
      for (const [key] of documents) keys.push(key)
      if (write?.store && write.states) keys.push(...keysOfStates(write.thingId, write.states))
    }
    if (keys.length === 0) return
    const stored = await this.#parts.database.level.getMany(keys)
    for (const [index, key] of keys.entries()) this.#before.push([key, stored[index]])
  }

  /** Stages an append or a put. @returns for a long write, a promise to await before the next call; otherwise undefined */
  stage(pending: LevelPendingCommit): Promise<void> | undefined {
    const write = this.#begin(pending)
    if (!write) return undefined
    if (isLong(pending)) return this.#stageInSlices(write, pending.receivedAt)
    const { records } = write
    const added = write.store ? this.records.stage(write, records, this.#writeNumber) : records
    this.#end(write, pending.receivedAt, added)
    return undefined
  }

  /** Stages an item, unless staging needs a read or takes long. @returns whether the item was staged */
  prepare(pending: LevelPendingCommit): boolean {
    this.#receive(pending)
    if (this.#needsTime(pending)) return false
    this.stage(pending)
    return true
  }

  #needsTime(pending: LevelPendingCommit): boolean {
    const { write, documents } = pending
    if (documents.length > 0 || isLong(pending)) return true
    if (!write) return false
    const { id, store, states = noStates } = write
    if (id !== undefined || states.length > 0) return true
    return store && !this.records.areNew(write)
  }

  /** @returns the write if its records must be staged; undefined if the outcome of the item is decided */
  #begin({ write, documents, ticket }: LevelPendingCommit): Append | undefined {
    const decided = ticket.expired ? new ThingwireError('store_timeout') : this.#decide(write)
    if (!(decided instanceof Error)) this.#stageDocuments(documents)
    if (decided) {
      this.outcomes.push(decided)
      return undefined
    }
    this.#writeNumber++
    return write
  }

  /** @returns the outcome if it does not depend on the records; undefined if the records must be staged */
  #decide(write: Append | undefined): Outcome | Error | undefined {
    if (!write) return noWrite
    const { thingId, id, store } = write
    const first = id === undefined ? undefined : this.#knownWrites.get(`${thingId} ${id}`)
    if (first) return { receipt: { writeNumber: 0, answer: first.answer } }
    if (takesRoom(write) && this.#parts.isFull()) return new ThingwireError('store_full')
    if (store && this.records.makesTooManyResources(write)) return new ThingwireError('too_many_resources')
    return undefined
  }

  /** @param records those records of the write that were not stored before */
  #end(write: Append, receivedAt: number, records: readonly AcceptedRecord[]): void {
    const { thingId, id, store, broadcast, answer, states } = write
    this.records.endWrite()
    const latest = states ? stageStates(this.#batch, write, states) : noStates
    if (id !== undefined) this.#stageWriteId(write, id, receivedAt)
    if (store || id !== undefined) this.#keepsAnything = true
    const writeNumber = this.#writeNumber
    const commit = { thingId, writeNumber, receivedAt, records, latest, stored: store, broadcast }
    const entry = this.#parts.log.entryOf(commit)
    if (entry) {
      this.records.put(...entry)
      this.#logged.push([commit, entry[1]])
    }
    this.outcomes.push({ receipt: { writeNumber, answer }, commit })
  }

  #stageDocuments(documents: EncodedDocuments): void {
    for (const [key, bytes] of documents) {
      this.#keepsAnything = true
      if (bytes === null) this.#batch.del(key)
      else this.#batch.put(key, bytes)
    }
  }

  #stageWriteId({ thingId, answer }: Append, id: string, receivedAt: number): void {
    const { put, known, isTrimDue } = this.#parts.writeIds.stage(thingId, id, receivedAt, answer)
    for (const [key, value] of put) this.records.put(key, value)
    this.#knownWrites.set(`${thingId} ${id}`, known)
    if (isTrimDue) this.#parts.trimWriteIds(thingId)
  }

  async #stageInSlices(write: Append, receivedAt: number): Promise<void> {
    const added: AcceptedRecord[] = []
    for (let start = 0; start < write.records.length; start += sliver) {
      await this.slices.pause()
      const some = write.records.slice(start, start + sliver)
      added.push(...this.records.stage(write, some, this.#writeNumber))
    }
    this.#end(write, receivedAt, added)
  }

  /** The counters of the store as they will be after this group. */
  get counters(): Counters {
    const { nextResource } = this.records
    return { writeNumber: this.#writeNumber, nextResource, newestReceipt: this.#newestReceipt }
  }

  /** @throws ThingwireError store_unavailable: nothing of the group is kept; store_timeout: the group may or may not be kept */
  async write(sync: boolean): Promise<void> {
    const { database, head, log } = this.#parts
    const { counters } = this
    this.records.end()
    if (this.#keepsAnything) {
      // Puts the parts of split chunks that no earlier call of `putParts` has put.
      for (const _ of this.records.putParts());
      head.put(this.#batch, counters)
      const added = { [Symbol.iterator]: () => this.records.addedKeys(this.#commits()) }
      await database.write(this.#batch, { sync }, { added, before: this.#before })
    } else {
      await this.#batch.close()
    }
    head.counters = counters
    for (const [commit, entry] of this.#logged) log.added(commit, entry)
    this.records.remember()
  }

  *#commits(): Generator<Commit> {
    for (const outcome of this.outcomes) {
      if (!(outcome instanceof Error) && outcome.commit) yield outcome.commit
    }
  }

  /** Discards the group. Called instead of `write`. */
  drop(): void {
    this.#batch.close().catch(() => {})
  }
}

/** Whether a write is too long to be staged in one turn of the event loop. */
export function isLong({ write }: LevelPendingCommit): boolean {
  return write?.store === true && write.records.length > mostAtOnce
}

/** Whether a write is refused when the disk is full. A write without an id that only removes states is not: it may free space. */
function takesRoom({ store, id, records, states = noStates }: Append): boolean {
  if (id !== undefined) return true
  return store && (records.length > 0 || states.some(({ record }) => record !== undefined))
}
