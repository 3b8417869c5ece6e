import { isMagicKey } from '../../../core/record/key.ts'
import type { AcceptedRecord } from '../../../core/record/record.ts'
import type { Append, Commit } from '../../contract.ts'
import { recordValue } from '../../record-value.ts'
import { comparedOneByOne } from '../../resend.ts'
import { type Chunk, chunkKey } from '../chunks/chunk.ts'
import { ChunkDraft, chunkValue } from '../chunks/record-chunk.ts'
import { putWatermark } from '../chunks/watermark.ts'
import { type Batch, type Database, putBytes } from '../database/database.ts'
import type { Entry } from '../database/scan.ts'
import {
  counterBytes,
  numberBytes,
  packedKey,
  positionBytes,
  recordKey,
  recordKeyLength,
  resourceByKeyKey,
  resourceKey,
  rollupKey,
  writeRecordKey,
} from '../keys.ts'
import type { Resource, Resources } from '../resources.ts'
import { duplicateKeyOf, loadSurroundings, type Surroundings } from './resend-check.ts'
import { StagedResource } from './staged-resource.ts'
import type { Unpacked } from './unpacked.ts'

/** Buffer for the key of a record. It is reused for every record, since the batch copies the bytes. */
const keyBytes = Buffer.allocUnsafe(recordKeyLength)

export interface StagedRecordsParts {
  readonly database: Database
  readonly resources: Resources
  readonly unpacked: Unpacked
}

/** Puts the records of a group into its batch, and tracks their resources as they will be after the commit. */
export class StagedRecords {
  nextResource: number
  readonly #parts: StagedRecordsParts
  readonly #batch: Batch
  /** Records of the previous group, while that group is being written. */
  #behind: StagedRecords | undefined
  /** Staged resources by thing, then by key. */
  readonly resources = new Map<string, Map<string, StagedResource>>()
  #surroundings: ReadonlyMap<number, Surroundings> = new Map()
  /** Resources with a draft chunk of the write that is being staged. */
  readonly #drafted = new Set<StagedResource>()
  /** For each thing to which the group adds resources: its number of resources, if known. */
  #growing = new Map<string, number>()
  /** Keys that the batch adds, except the keys of new records. */
  readonly #added: Buffer[] = []

  constructor(parts: StagedRecordsParts, batch: Batch, nextResource: number, behind?: StagedRecords) {
    this.#parts = parts
    this.#batch = batch
    this.nextResource = nextResource
    this.#behind = behind
  }

  /** Reads the data that `stage` needs for these writes. @returns the stored chunks and watermarks that the group may replace */
  async load(writes: readonly Append[]): Promise<Entry[]> {
    const { database, resources } = this.#parts
    this.#growing = await resources.load(writes)
    this.#surroundings = await loadSurroundings(database, resources, writes)
    return [...this.#surroundings].flatMap(([resource, { chunks, watermark }]): Entry[] => [
      ...chunks.map(({ entry }) => entry),
      ...(watermark ? ([[packedKey(resource), positionBytes(watermark)]] as const) : []),
    ])
  }

  /** Whether it is certain, without a read, that all records of the write are new. */
  areNew({ thingId, records }: Append): boolean {
    return records.every(record => this.#staged(thingId, record.key)?.mayBeStored(record) === false)
  }

  makesTooManyResources({ thingId, records, maximumResources }: Append): boolean {
    const count = this.#growing.get(thingId)
    if (count === undefined || maximumResources === undefined) return false
    const added = new Set<string>()
    for (const { key } of records) if (!this.#isResource(thingId, key)) added.add(key)
    return added.size > 0 && count + added.size > maximumResources
  }

  /** @param records all records of the write, or the next part of them @returns the records that were not stored before */
  stage(write: Append, records: readonly AcceptedRecord[], writeNumber: number): readonly AcceptedRecord[] {
    let repeated: Set<AcceptedRecord> | undefined
    const isOnly = write.records.length === 1
    for (const record of records) {
      if (this.#stageRecord(write.thingId, record, writeNumber, isOnly)) continue
      repeated ??= new Set()
      repeated.add(record)
    }
    // Usually all records are new, so that no copy is needed.
    return repeated ? records.filter(record => !repeated.has(record)) : records
  }

  /** Called when all records of a write are staged. */
  endWrite(): void {
    if (this.#drafted.size === 0) return
    for (const resource of this.#drafted) this.#putDraft(resource)
    this.#drafted.clear()
  }

  /** Puts the parts of split chunks that have not been put yet, one part per step. Called when all writes are staged. */
  *putParts(): Generator<void> {
    for (const ofThing of this.resources.values()) {
      for (const resource of ofThing.values()) {
        const watermark = resource.loweredWatermark
        if (watermark) putWatermark(this.#batch, watermark.to)
        for (const day of resource.staleDays) this.#batch.del(rollupKey(resource.number, day))
        for (const part of resource.takeParts()) {
          this.#putChunk(part)
          this.#added.push(chunkKey(part))
          yield
        }
      }
    }
  }

  /** Puts a new key. */
  put(key: Buffer, value: Buffer): void {
    putBytes(this.#batch, key, value)
    this.#added.push(key)
  }

  /** Called when all items of the group are staged. */
  end(): void {
    this.#behind = undefined
  }

  /** Called when the group is committed. */
  remember(): void {
    const { resources, unpacked } = this.#parts
    for (const [thingId, ofThing] of this.resources) {
      for (const [key, resource] of ofThing) {
        const { number, newest, atNewest, added, late } = resource
        resources.remember(thingId, key, { number, newest, atNewest })
        if (added > 0) unpacked.grew(number, added)
        if (late) unpacked.changed(number, late, resource.loweredWatermark?.from)
      }
    }
    for (const [thingId, count] of this.#growing) resources.rememberCount(thingId, count)
    resources.evict()
  }

  /** All keys that the batch adds, to undo a failed write. Record keys are computed again, which is cheaper than keeping them. */
  *addedKeys(commits: Iterable<Commit>): Generator<Buffer> {
    yield* this.#added
    for (const { thingId, writeNumber, records, stored } of commits) {
      if (!stored) continue
      for (const { key, datetime, place } of records) {
        yield recordKey(this.#resource(thingId, key).number, datetime, writeNumber, place)
      }
    }
  }

  /** @param isOnly whether this is the only record of its write @returns whether the record was not stored before */
  #stageRecord(thingId: string, record: AcceptedRecord, writeNumber: number, isOnly: boolean): boolean {
    const resource = this.#resource(thingId, record.key)
    const { count, isStored } = resource.look(record)
    if (isStored) return false
    if (record.datetime < resource.newest) this.#stageLate(resource, record, writeNumber)
    else if (isOnly) this.#putAlone(resource, record, writeNumber)
    else this.#draft(resource, record, writeNumber)
    if (count >= comparedOneByOne)
      this.put(duplicateKeyOf(resource.number, record), counterBytes(writeNumber))
    resource.add(record, count)
    return true
  }

  #putAlone({ number }: StagedResource, record: AcceptedRecord, writeNumber: number): void {
    writeRecordKey(keyBytes, number, record.datetime, writeNumber, record.place)
    putBytes(this.#batch, keyBytes, recordValue(record))
  }

  #draft(resource: StagedResource, record: AcceptedRecord, writeNumber: number): void {
    if (resource.draft?.add(record, record.place)) return
    if (resource.draft) this.#putDraft(resource)
    else this.#drafted.add(resource)
    resource.draft = new ChunkDraft(resource.number, writeNumber)
    resource.draft.add(record, record.place)
  }

  /** Stages a record that is older than the newest record of its resource, and so may split a chunk. */
  #stageLate(resource: StagedResource, record: AcceptedRecord, writeNumber: number): void {
    this.#putDraft(resource)
    resource.part(record.datetime)
    this.#putAlone(resource, record, writeNumber)
  }

  #putDraft(resource: StagedResource): void {
    if (!resource.draft) return
    this.#putChunk(resource.draft)
    resource.hold(resource.draft)
    resource.draft = undefined
  }

  #putChunk(chunk: Chunk): void {
    putBytes(this.#batch, chunkKey(chunk), chunkValue(chunk))
  }

  #resource(thingId: string, key: string): StagedResource {
    return this.#staged(thingId, key) ?? this.#add(thingId, key, this.#newResource(thingId, key))
  }

  /** @returns undefined if the resource is new or not cached */
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

  #isResource(thingId: string, key: string): boolean {
    const isStaged = this.resources.get(thingId)?.has(key) === true
    return isStaged || this.#parts.resources.cached(thingId, key) !== undefined
  }

  #newResource(thingId: string, key: string): Resource {
    const count = this.#growing.get(thingId)
    if (count !== undefined) this.#growing.set(thingId, count + 1)
    const number = this.nextResource++
    this.put(resourceKey(thingId, key), numberBytes(number))
    if (!isMagicKey(key)) this.put(resourceByKeyKey(key, thingId), numberBytes(number))
    return { number, newest: -1, atNewest: undefined }
  }
}
