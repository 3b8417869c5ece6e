import { isMagicKey } from '../../core/key.ts'
import type { AcceptedRecord } from '../../core/record.ts'
import { ThingwireError } from '../../errors.ts'
import type { Waiting } from '../commit-ticket.ts'
import type { Append, Commit, CommitTicket, Latest, Receipt } from '../contract.ts'
import { encodeRecord } from '../record-value.ts'
import type { CommitLog } from './commit-log.ts'
import { type Batch, type Database, putBytes, type Undo } from './database.ts'
import type { EncodedDocuments } from './documents.ts'
import type { Head } from './head.ts'
import { numberBytes, recordKey, resourceByKeyKey, resourceKey } from './keys.ts'
import { crowdKeyOf, loadPoints } from './resend-check.ts'
import type { Resource, Resources } from './resources.ts'
import { StagedResource } from './staged-resource.ts'
import { keysOfStates, stageStates } from './states.ts'
import type { KnownWrite, WriteIds } from './write-ids.ts'

/** An append in the queue, or a put of documents alone. */
export interface PendingCommit {
  readonly write?: Append
  readonly documents: EncodedDocuments
  readonly ticket: CommitTicket<Receipt>
}

export interface CommitParts {
  readonly database: Database
  readonly head: Head
  readonly resources: Resources
  readonly writeIds: WriteIds
  readonly log: CommitLog
  /** Whether a commit waits for fsync. */
  readonly sync: boolean
  /** Whether there is too little free disk to keep records. */
  readonly isFull: () => boolean
  readonly announce: (commit: Commit) => void
  /** Makes the log say, too, that a commit is not broadcast. */
  readonly quieten: (writeNumber: number) => void
  /** The thing has write ids that can be removed. */
  readonly trimWriteIds: (thingId: string) => void
}

/**
 * Commits a group as one LevelDB batch: first everything that must be read, for all of them at once, then the
 * decisions, in order and without a pause, then the one write.
 *
 * @returns the receipt of each, or an error for one that was no longer waited for, has no room on the disk, or makes too
 * many resources
 * @throws ThingwireError store_unavailable: nothing of the group is kept; store_timeout: that is not certain yet
 */
export async function commitGroup(
  pending: readonly PendingCommit[],
  parts: CommitParts,
): Promise<(Receipt | Error)[]> {
  const group = new Group(parts)
  await group.load(pending)
  const outcomes = pending.map(each => group.stage(each))
  await group.commit()
  return outcomes.map((outcome, index) => {
    if (outcome instanceof Error) return outcome
    if (outcome.commit) announce(outcome.commit, parts, pending[index]?.ticket)
    return outcome.receipt
  })
}

/** Its sender was told that a write which took too long may not be kept: what is kept of it is not broadcast. */
function announce(commit: Commit, parts: CommitParts, ticket: Waiting | undefined): void {
  const isLate = commit.broadcast && ticket?.expired === true
  if (isLate && commit.stored) parts.quieten(commit.writeNumber)
  parts.announce(isLate ? { ...commit, broadcast: false } : commit)
}

interface Outcome {
  readonly receipt: Receipt
  readonly commit?: Commit
}

const noStates: readonly Latest[] = []

/** What comes of a put of documents alone. */
const noWrite: Outcome = { receipt: { writeNumber: 0, answer: {} } }

/** One group on its way to the disk; what it changes in memory is only kept once it is there. */
class Group {
  readonly #parts: CommitParts
  readonly #batch: Batch
  readonly #added: Buffer[] = []
  /** The documents and states that are put, as they were before. */
  #before: Undo['before'] = []
  readonly #resources = new Map<string, Map<string, StagedResource>>()
  readonly #knownWrites = new Map<string, KnownWrite | undefined>()
  #points: Awaited<ReturnType<typeof loadPoints>> = new Map()
  /** How many resources each thing has that is given more by the group, where that is counted. */
  #growing = new Map<string, number>()
  #keepsAnything = false
  #writeNumber: number
  #nextResource: number
  #newestReceipt: number

  constructor(parts: CommitParts) {
    this.#parts = parts
    this.#batch = parts.database.batch()
    const { writeNumber, nextResource, newestReceipt } = parts.head.counters
    this.#writeNumber = writeNumber
    this.#nextResource = nextResource
    this.#newestReceipt = newestReceipt
  }

  async load(pending: readonly PendingCommit[]): Promise<void> {
    const { database, resources } = this.#parts
    const writes = pending.flatMap(({ write }) => write ?? [])
    const stored = writes.filter(({ store }) => store)
    const loading = resources.load(stored)
    await Promise.all([this.#loadKnownWrites(writes), this.#loadBefore(pending), loading])
    this.#growing = await loading
    this.#points = await loadPoints(database, resources, stored)
  }

  async #loadKnownWrites(writes: readonly Append[]): Promise<void> {
    const loading: Promise<void>[] = []
    for (const { thingId, id, receivedAt } of writes) {
      if (id !== undefined) loading.push(this.#loadKnownWrite(thingId, id, receivedAt))
    }
    await Promise.all(loading)
  }

  async #loadKnownWrite(thingId: string, id: string, receivedAt: number): Promise<void> {
    this.#knownWrites.set(`${thingId} ${id}`, await this.#parts.writeIds.find(thingId, id, receivedAt))
  }

  /** A crash is undone by LevelDB itself, a failed write by us, who have to know what is overwritten. */
  async #loadBefore(pending: readonly PendingCommit[]): Promise<void> {
    const keys: Buffer[] = []
    for (const { write, documents } of pending) {
      for (const [key] of documents) keys.push(key)
      if (write?.store && write.states) keys.push(...keysOfStates(write.thingId, write.states))
    }
    if (keys.length === 0) return
    const stored = await this.#parts.database.level.getMany(keys)
    this.#before = keys.map((key, index) => [key, stored[index]])
  }

  /** Decides on one append or put, in commit order. */
  stage({ write, documents, ticket }: PendingCommit): Outcome | Error {
    if (ticket.expired) return new ThingwireError('store_timeout')
    const outcome = write ? this.#stageWrite(write) : noWrite
    if (!(outcome instanceof Error)) this.#stageDocuments(documents)
    return outcome
  }

  #stageDocuments(documents: EncodedDocuments): void {
    for (const [key, bytes] of documents) {
      this.#keepsAnything = true
      if (bytes === null) this.#batch.del(key)
      else this.#batch.put(key, bytes)
    }
  }

  #stageWrite(write: Append): Outcome | Error {
    const { thingId, id, store, broadcast, receivedAt, answer, states } = write
    const first = id === undefined ? undefined : this.#knownWrites.get(`${thingId} ${id}`)
    if (first) return { receipt: { writeNumber: 0, answer: first.answer } }
    if (takesRoom(write) && this.#parts.isFull()) return new ThingwireError('store_full')
    if (store && this.#makesTooManyResources(write)) return new ThingwireError('too_many_resources')
    const writeNumber = ++this.#writeNumber
    const records = store ? write.records.filter(record => this.#stageRecord(thingId, record)) : write.records
    const latest = states ? stageStates(this.#batch, write, states) : noStates
    if (id !== undefined) this.#stageWriteId(write, id)
    if (store || id !== undefined) this.#keepsAnything = true
    this.#newestReceipt = Math.max(this.#newestReceipt, receivedAt)
    const commit = { thingId, writeNumber, receivedAt, records, latest, stored: store, broadcast }
    const entry = this.#parts.log.entryOf(commit)
    if (entry) this.#put(...entry)
    return { receipt: { writeNumber, answer }, commit }
  }

  #stageWriteId({ thingId, receivedAt, answer }: Append, id: string): void {
    const { put, known, isTrimDue } = this.#parts.writeIds.stage(thingId, id, receivedAt, answer)
    for (const [key, value] of put) this.#put(key, value)
    this.#knownWrites.set(`${thingId} ${id}`, known)
    if (isTrimDue) this.#parts.trimWriteIds(thingId)
  }

  /** @returns whether the record is new */
  #stageRecord(thingId: string, record: AcceptedRecord): boolean {
    const resource = this.#resource(thingId, record.key)
    const { count, isStored } = resource.look(record)
    if (isStored) return false
    this.#put(
      recordKey(resource.number, record.datetime, this.#writeNumber, record.place),
      encodeRecord(record),
    )
    const crowd = crowdKeyOf(record, resource.number, count)
    if (crowd) this.#put(crowd, writeNumberBytes(this.#writeNumber))
    resource.add(record, count)
    return true
  }

  #put(key: Buffer, value: Buffer): void {
    putBytes(this.#batch, key, value)
    this.#added.push(key)
  }

  #resource(thingId: string, key: string): StagedResource {
    const ofThing = this.#resources.get(thingId) ?? new Map<string, StagedResource>()
    const staged = ofThing.get(key)
    if (staged) return staged
    const committed = this.#parts.resources.cached(thingId, key) ?? this.#newResource(thingId, key)
    const resource = new StagedResource(committed, this.#points.get(committed.number))
    this.#resources.set(thingId, ofThing.set(key, resource))
    return resource
  }

  #makesTooManyResources({ thingId, records, maximumResources }: Append): boolean {
    const count = this.#growing.get(thingId)
    if (count === undefined || maximumResources === undefined) return false
    const added = new Set<string>()
    for (const { key } of records) if (!this.#isResource(thingId, key)) added.add(key)
    return added.size > 0 && count + added.size > maximumResources
  }

  #isResource(thingId: string, key: string): boolean {
    const isStaged = this.#resources.get(thingId)?.has(key) === true
    return isStaged || this.#parts.resources.cached(thingId, key) !== undefined
  }

  #newResource(thingId: string, key: string): Resource {
    const count = this.#growing.get(thingId)
    if (count !== undefined) this.#growing.set(thingId, count + 1)
    const number = this.#nextResource++
    this.#put(resourceKey(thingId, key), numberBytes(number))
    if (!isMagicKey(key)) this.#put(resourceByKeyKey(key, thingId), numberBytes(number))
    return { number, newest: -1, atNewest: undefined }
  }

  async commit(): Promise<void> {
    const { database, head, resources, sync } = this.#parts
    const counters = {
      writeNumber: this.#writeNumber,
      nextResource: this.#nextResource,
      newestReceipt: this.#newestReceipt,
    }
    if (this.#keepsAnything) {
      head.put(this.#batch, counters)
      await database.write(this.#batch, { sync }, { added: this.#added, before: this.#before })
    } else {
      await this.#batch.close()
    }
    head.counters = counters
    for (const [thingId, ofThing] of this.#resources) {
      for (const [key, { number, newest, atNewest }] of ofThing) {
        resources.remember(thingId, key, { number, newest, atNewest })
      }
    }
    for (const [thingId, count] of this.#growing) resources.rememberCount(thingId, count)
    resources.evict()
  }
}

/** What takes none is welcome on a disk that is nearly full: it may be what frees some. */
function takesRoom({ store, id, records, states = noStates }: Append): boolean {
  if (id !== undefined) return true
  return store && (records.length > 0 || states.some(({ record }) => record !== undefined))
}

function writeNumberBytes(writeNumber: number): Buffer {
  const bytes = Buffer.allocUnsafe(6)
  bytes.writeUIntBE(writeNumber, 0, 6)
  return bytes
}
