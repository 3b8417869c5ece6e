import type {
  Append,
  Commit,
  CommitTicket,
  DriverRecords,
  PageQuery,
  Receipt,
  StoreDriver,
  TimeRange,
} from '../contract.ts'
import { GroupCommit } from '../group-commit.ts'
import { backUp } from './backup.ts'
import { commitGroup, type PendingCommit } from './commit-group.ts'
import { Database } from './database.ts'
import { createDocuments, encodeDocuments } from './documents.ts'
import { FreeSpace } from './free-space.ts'
import { Head } from './head.ts'
import { emptiedKey, emptiedKeys, refusedKeys, resourceKey, writeIdKeys, writeIdOrderKeys } from './keys.ts'
import { readPage } from './read.ts'
import { LevelRefusedWrites } from './refused-writes.ts'
import { isEmpty, removeKeys, removeRecords } from './remove.ts'
import { Resources } from './resources.ts'
import { WriteIds } from './write-ids.ts'

export interface LevelStoreOptions {
  /** Directory of the database; made if it is not there. */
  readonly location: string
  /** `synced` (default): an ack survives the loss of power; `written`: only that of the process. */
  readonly durability?: 'synced' | 'written'
  /** Bytes of disk that must be free for writes to be taken. Default 0: not watched. */
  readonly minFreeSpace?: number
}

/** Largest group that is committed as one, in bytes: bounds what one fsync waits for. */
const maximumGroupBytes = 4 * 1024 * 1024
const recordOverhead = 32
const nothing = Buffer.alloc(0)

/** The embedded store: LevelDB in this process. */
export function createLevelStore(options: LevelStoreOptions): StoreDriver {
  const database = new Database(options.location)
  const freeSpace = new FreeSpace(options.location, options.minFreeSpace ?? 0)
  const records = new LevelRecords(database, freeSpace, options.durability !== 'written')
  return {
    capabilities: { durable: true, shared: false, backup: true },
    records,
    documents: createDocuments(database, {
      put: (documents, ticket) => records.commits.push({ documents, ticket }),
      alone: task => records.commits.alone(task),
    }),
    refused: records.refused,
    backup: () => backUp(database),
    isReady: () => database.isUsable(),
    async open() {
      await database.open()
      await records.head.load(database)
      await freeSpace.start()
    },
    async close() {
      freeSpace.stop()
      await records.commits.alone(async () => {})
      await database.close()
    },
  }
}

class LevelRecords implements DriverRecords {
  readonly head = new Head()
  readonly commits: GroupCommit<PendingCommit, Receipt>
  readonly refused: LevelRefusedWrites
  readonly #database: Database
  readonly #resources: Resources
  readonly #writeIds: WriteIds
  readonly #listeners = new Set<(commit: Commit) => void>()
  #removals: Promise<unknown> = Promise.resolve()

  constructor(database: Database, freeSpace: FreeSpace, sync: boolean) {
    this.#database = database
    this.#resources = new Resources(database)
    this.#writeIds = new WriteIds(database)
    this.refused = new LevelRefusedWrites(database)
    const parts = {
      database,
      head: this.head,
      resources: this.#resources,
      writeIds: this.#writeIds,
      sync,
      isFull: () => freeSpace.isShort,
      announce: (commit: Commit) => {
        for (const listener of this.#listeners) listener(commit)
      },
      trimWriteIds: (thingId: string) => {
        // Left behind by a failure, they are found again at the next trim.
        this.commits.alone(() => this.#writeIds.trim(thingId)).catch(() => {})
      },
    }
    this.commits = new GroupCommit(
      group => database.use(() => commitGroup(group, parts)),
      weigh,
      maximumGroupBytes,
    )
  }

  async append(write: Append, ticket: CommitTicket) {
    return await this.commits.push({ write, documents: encodeDocuments(write.documents), ticket })
  }

  async answerOf(thingId: string, id: string, now: number) {
    return (await this.#database.use(() => this.#writeIds.find(thingId, id, now)))?.answer
  }

  read(thingId: string, key: string, query: PageQuery) {
    return this.#database.use(async () => {
      const resource = await this.#resources.find(thingId, key)
      if (resource !== undefined) return await readPage(this.#database, resource, key, query)
      return (await this.#database.level.has(emptiedKey(thingId, key))) ? { records: [] } : undefined
    })
  }

  resources(thingId: string) {
    return this.#database.use(() => this.#resources.names(thingId))
  }

  remove(thingId: string, key: string, range: TimeRange): Promise<number> {
    const lastWrite = this.commits.alone(async () => this.head.counters.writeNumber)
    // One after another, so that no record is counted by two of them.
    const removal = this.#removals.then(() =>
      this.#database.use(async () => this.#remove(thingId, key, range, await lastWrite)),
    )
    this.#removals = removal.catch(() => {})
    return removal
  }

  async #remove(thingId: string, key: string, range: TimeRange, lastWrite: number): Promise<number> {
    const resource = await this.#resources.find(thingId, key)
    if (resource === undefined) return 0
    const removed = await removeRecords(this.#database, resource, range, lastWrite)
    await this.commits.alone(async () => {
      if (!(await isEmpty(this.#database, resource))) return
      const batch = this.#database.batch()
      batch.del(resourceKey(thingId, key)).put(emptiedKey(thingId, key), nothing)
      await this.#database.write(batch, { sync: true })
      this.#resources.forget(thingId, key)
    })
    return removed
  }

  async removeThing(thingId: string): Promise<void> {
    for (const key of await this.resources(thingId)) await this.remove(thingId, key, {})
    await this.commits.alone(() => this.#database.use(() => this.#removeRest(thingId)))
  }

  async #removeRest(thingId: string): Promise<void> {
    const ranges = [
      emptiedKeys(thingId),
      writeIdKeys(thingId),
      writeIdOrderKeys(thingId),
      refusedKeys(thingId),
    ]
    for (const range of ranges) await removeKeys(this.#database, range)
    this.#resources.forgetThing(thingId)
    this.#writeIds.forgetThing(thingId)
    this.refused.forgetThing(thingId)
  }

  newestReceipt(): number {
    return this.head.counters.newestReceipt
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

function weigh({ write, documents }: PendingCommit): number {
  let bytes = recordOverhead
  for (const { value } of write?.records ?? []) bytes += value.length + recordOverhead
  for (const [key, value] of documents) bytes += key.length + (value?.length ?? 0) + recordOverhead
  return bytes
}
