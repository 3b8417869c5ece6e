import { isMagicKey } from '../../core/key.ts'
import type { AcceptedRecord } from '../../core/record.ts'
import { ThingwireError } from '../../errors.ts'
import type { Append, Commit, CommitTicket, Latest, Receipt } from '../contract.ts'
import { recordValue } from '../record-value.ts'
import type { CommitLog } from './commit-log.ts'
import { type Batch, type Database, putBytes } from './database.ts'
import type { EncodedDocuments } from './documents.ts'
import type { Counters, Head } from './head.ts'
import {
  counterBytes,
  numberBytes,
  recordKey,
  recordKeyLength,
  resourceByKeyKey,
  resourceKey,
  writeRecordKey,
} from './keys.ts'
import { type Run, RunDraft, runKey, runValue } from './record-run.ts'
import { crowdKeyOf, loadSurroundings, type Surroundings } from './resend-check.ts'
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

export interface GroupParts {
  readonly database: Database
  readonly head: Head
  readonly resources: Resources
  readonly writeIds: WriteIds
  readonly log: CommitLog
  /** Whether there is too little free disk to keep records. */
  readonly isFull: () => boolean
  /** The thing has write ids that can be removed. */
  readonly trimWriteIds: (thingId: string) => void
}

export interface Outcome {
  readonly receipt: Receipt
  readonly commit?: Commit
}

const noStates: readonly Latest[] = []

/** The key of a record while it is put: the batch copies it. */
const keyBytes = Buffer.allocUnsafe(recordKeyLength)

/** What comes of a put of documents alone. */
const noWrite: Outcome = { receipt: { writeNumber: 0, answer: {} } }

/**
 * One group on its way to the disk, as one LevelDB batch: first everything that must be read, for all of it at once, then the
 * decisions, in order and without a pause, then the one write; or, of what needs nothing to be read, one decision at a time.
 * What it changes in memory is only kept once it is on the disk.
 */
export class CommitGroup {
  /** What comes of each that was staged, if the write succeeds. */
  readonly outcomes: (Outcome | Error)[] = []
  readonly #parts: GroupParts
  /** The group before this one, while it is being written. */
  #behind: CommitGroup | undefined
  readonly #batch: Batch
  /** The keys that are put and were not there before, but for those of the writes' records. */
  readonly #added: Buffer[] = []
  /** The documents and states that are put anew, and the runs that may be, as they were before. */
  readonly #before: [key: Buffer, bytes: Buffer | undefined][] = []
  /** As they will be when the group is committed: by thing, then by key. */
  readonly resources = new Map<string, Map<string, StagedResource>>()
  readonly #knownWrites = new Map<string, KnownWrite | undefined>()
  #surroundings: ReadonlyMap<number, Surroundings> = new Map()
  /** Resources with a draft of the write that is being staged. */
  readonly #drafted = new Set<StagedResource>()
  /** How many resources each thing has that is given more by the group, where that is counted. */
  #growing = new Map<string, number>()
  #keepsAnything = false
  #writeNumber: number
  #nextResource: number
  #newestReceipt: number

  constructor(parts: GroupParts, behind?: CommitGroup) {
    this.#parts = parts
    this.#behind = behind
    this.#batch = parts.database.batch()
    const { writeNumber, nextResource, newestReceipt } = behind?.counters ?? parts.head.counters
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
    this.#surroundings = await loadSurroundings(database, resources, stored)
    for (const { runs } of this.#surroundings.values()) {
      for (const { entry } of runs) this.#before.push([...entry])
    }
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
    for (const [index, key] of keys.entries()) this.#before.push([key, stored[index]])
  }

  /** Decides on one append or put, in commit order. */
  stage(pending: PendingCommit): void {
    this.outcomes.push(this.#stage(pending))
  }

  /** Stages what needs nothing to be read. @returns whether it did */
  stageUnread(pending: PendingCommit): boolean {
    if (this.#needsRead(pending)) return false
    this.stage(pending)
    return true
  }

  #needsRead({ write, documents }: PendingCommit): boolean {
    if (documents.length > 0) return true
    if (!write) return false
    const { thingId, id, store, records, states = noStates } = write
    if (id !== undefined || states.length > 0) return true
    return store && records.some(record => this.#staged(thingId, record.key)?.mayBeStored(record) !== false)
  }

  #stage({ write, documents, ticket }: PendingCommit): Outcome | Error {
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
    const records = store ? this.#stageRecords(write) : write.records
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

  /** @returns those that are new */
  #stageRecords({ thingId, records }: Append): readonly AcceptedRecord[] {
    let repeated: Set<AcceptedRecord> | undefined
    const isAlone = records.length === 1
    for (const record of records) {
      if (this.#stageRecord(thingId, record, isAlone)) continue
      repeated ??= new Set()
      repeated.add(record)
    }
    if (this.#drafted.size > 0) this.#putDrafts()
    // Mostly all are new: then they are a commit's as they came.
    return repeated ? records.filter(record => !repeated.has(record)) : records
  }

  /** @param isAlone whether it is the only one of its write @returns whether the record is new */
  #stageRecord(thingId: string, record: AcceptedRecord, isAlone: boolean): boolean {
    const resource = this.#resource(thingId, record.key)
    const { count, isStored } = resource.look(record)
    if (isStored) return false
    if (record.datetime < resource.newest) this.#stageLate(resource, record)
    else if (isAlone) this.#putAlone(resource, record)
    else this.#draft(resource, record)
    const crowd = crowdKeyOf(record, resource.number, count)
    if (crowd) this.#put(crowd, counterBytes(this.#writeNumber))
    resource.add(record, count)
    return true
  }

  #putAlone({ number }: StagedResource, record: AcceptedRecord): void {
    writeRecordKey(keyBytes, number, record.datetime, this.#writeNumber, record.place)
    putBytes(this.#batch, keyBytes, recordValue(record))
  }

  #draft(resource: StagedResource, record: AcceptedRecord): void {
    if (resource.draft?.add(record, record.place)) return
    if (resource.draft) this.#putDraft(resource)
    else this.#drafted.add(resource)
    resource.draft = new RunDraft(resource.number, this.#writeNumber)
    resource.draft.add(record, record.place)
  }

  /** One that does not stand behind all others may part a run. */
  #stageLate(resource: StagedResource, record: AcceptedRecord): void {
    this.#putDraft(resource)
    resource.part(record.datetime)
    this.#putAlone(resource, record)
  }

  #putDrafts(): void {
    for (const resource of this.#drafted) this.#putDraft(resource)
    this.#drafted.clear()
  }

  #putDraft(resource: StagedResource): void {
    if (!resource.draft) return
    this.#putRun(resource.draft)
    resource.hold(resource.draft)
    resource.draft = undefined
  }

  #putRun(run: Run): void {
    putBytes(this.#batch, runKey(run), runValue(run))
  }

  #put(key: Buffer, value: Buffer): void {
    putBytes(this.#batch, key, value)
    this.#added.push(key)
  }

  #resource(thingId: string, key: string): StagedResource {
    return this.#staged(thingId, key) ?? this.#add(thingId, key, this.#newResource(thingId, key))
  }

  /** Undefined if the resource is not known. */
  #staged(thingId: string, key: string): StagedResource | undefined {
    const staged = this.resources.get(thingId)?.get(key)
    if (staged) return staged
    const before = this.#behind?.resources.get(thingId)?.get(key)
    const committed = before ?? this.#parts.resources.cached(thingId, key)
    return committed && this.#add(thingId, key, committed)
  }

  #add(thingId: string, key: string, committed: Resource): StagedResource {
    const resource = new StagedResource(committed, this.#surroundings.get(committed.number))
    const ofThing = this.resources.get(thingId) ?? new Map<string, StagedResource>()
    this.resources.set(thingId, ofThing.set(key, resource))
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
    const isStaged = this.resources.get(thingId)?.has(key) === true
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

  /** The counters of the store when it is written. */
  get counters(): Counters {
    return {
      writeNumber: this.#writeNumber,
      nextResource: this.#nextResource,
      newestReceipt: this.#newestReceipt,
    }
  }

  /**
   * Nothing is staged from now on.
   *
   * @throws ThingwireError store_unavailable: nothing of the group is kept; store_timeout: that is not certain yet
   */
  async write(sync: boolean): Promise<void> {
    const { database, head, resources } = this.#parts
    const { counters } = this
    this.#behind = undefined
    if (this.#keepsAnything) {
      this.#putParts()
      head.put(this.#batch, counters)
      await database.write(
        this.#batch,
        { sync },
        { added: { [Symbol.iterator]: () => this.#addedKeys() }, before: this.#before },
      )
    } else {
      await this.#batch.close()
    }
    head.counters = counters
    for (const [thingId, ofThing] of this.resources) {
      for (const [key, { number, newest, atNewest }] of ofThing) {
        resources.remember(thingId, key, { number, newest, atNewest })
      }
    }
    for (const [thingId, count] of this.#growing) resources.rememberCount(thingId, count)
    resources.evict()
  }

  #putParts(): void {
    for (const ofThing of this.resources.values()) {
      for (const resource of ofThing.values()) {
        for (const part of resource.parts()) {
          this.#putRun(part)
          this.#added.push(runKey(part))
        }
      }
    }
  }

  /** For when the write has failed: to make the keys of records twice costs less than to keep them for that. */
  *#addedKeys(): Generator<Buffer> {
    yield* this.#added
    for (const outcome of this.outcomes) {
      const commit = outcome instanceof Error ? undefined : outcome.commit
      if (!commit?.stored) continue
      const { thingId, writeNumber, records } = commit
      for (const { key, datetime, place } of records) {
        yield recordKey(this.#resource(thingId, key).number, datetime, writeNumber, place)
      }
    }
  }

  /** In place of writing it. */
  drop(): void {
    this.#batch.close().catch(() => {})
  }
}

/** What takes none is welcome on a disk that is nearly full: it may be what frees some. */
function takesRoom({ store, id, records, states = noStates }: Append): boolean {
  if (id !== undefined) return true
  return store && (records.length > 0 || states.some(({ record }) => record !== undefined))
}
