import type { Observer } from '../../core/observer.ts'
import type {
  Append,
  Commit,
  CommitTicket,
  DriverRecords,
  LogQuery,
  PageQuery,
  Receipt,
  RemovedOld,
  TimeRange,
} from '../contract.ts'
import { GroupCommit } from '../group-commit.ts'
import { ReceiptClock } from '../receipt-clock.ts'
import { weigh } from '../weigh.ts'
import type { LevelPendingCommit } from './commit-group.ts'
import { LevelCommitLog } from './commit-log.ts'
import { LevelCommitter } from './committer.ts'
import type { Database } from './database/database.ts'
import type { DiskSpace } from './database/disk-space.ts'
import { Head } from './database/head.ts'
import { removeKeys } from './database/remove-keys.ts'
import { scan } from './database/scan.ts'
import { encodeDocuments } from './documents.ts'
import {
  emptiedKey,
  emptiedKeys,
  namesInThingKey,
  refusedKeys,
  resourceByKeyKey,
  stateKey,
  stateKeys,
  writeIdKeys,
  writeIdOrderKeys,
} from './keys.ts'
import { emptyPage, readPage } from './pages.ts'
import { LevelRefusedWrites } from './refused-writes.ts'
import { Removals } from './removals.ts'
import { Resources } from './resources.ts'
import { OldRecords } from './runs/old-records.ts'
import { LevelSnapshot } from './snapshot.ts'
import { decodeState } from './states.ts'
import { WriteIds } from './write-ids.ts'

/**
 * Largest group that is committed as one, in bytes as `weigh` has them: bounds what one fsync waits for, and how long the
 * event loop is held by putting it together, 1.3 us for each of some 6,000 short values. Larger groups are no faster.
 */
const maximumGroupBytes = 256 * 1024

/** The records of the embedded store, and the order of its commits. */
export class LevelRecords implements DriverRecords {
  readonly head = new Head()
  readonly clock = new ReceiptClock()
  readonly commits: GroupCommit<LevelPendingCommit, Receipt>
  readonly refused: LevelRefusedWrites
  readonly #database: Database
  readonly #resources: Resources
  readonly #writeIds: WriteIds
  readonly #listeners = new Set<(commit: Commit) => void>()
  readonly #space: DiskSpace
  readonly #removals: Removals
  readonly #old: OldRecords
  readonly #log: LevelCommitLog

  constructor(
    database: Database,
    space: DiskSpace,
    sync: boolean,
    observer: Pick<Observer, 'committed'> | undefined,
  ) {
    this.#database = database
    this.#space = space
    this.#resources = new Resources(database)
    this.#writeIds = new WriteIds(database)
    this.refused = new LevelRefusedWrites(database, () => space.isShort)
    this.#log = new LevelCommitLog(database)
    const announce = (commit: Commit) => {
      for (const listener of this.#listeners) listener(commit)
    }
    const committer = new LevelCommitter({
      database,
      head: this.head,
      clock: this.clock,
      resources: this.#resources,
      writeIds: this.#writeIds,
      log: this.#log,
      sync,
      isFull: () => space.isShort,
      announce,
      trimWriteIds: (thingId: string) => {
        // Left behind by a failure, they are found again at the next trim.
        this.commits.alone(() => this.#writeIds.trim(thingId)).catch(() => {})
      },
    })
    this.commits = new GroupCommit(
      {
        commit: (group, begun) => database.use(() => committer.commit(group, begun)),
        prepare: item => committer.prepare(item),
      },
      ({ write, documents }) => weigh(write, documents),
      maximumGroupBytes,
      undefined,
      (changes, seconds) => observer?.committed(changes, seconds),
    )
    this.#removals = new Removals({
      database,
      head: this.head,
      resources: this.#resources,
      log: this.#log,
      announce,
      alone: task => this.commits.alone(task),
      isShort: () => space.isShort,
    })
    this.#old = new OldRecords(database, this.#resources, task =>
      this.#removals.inTurn(() => this.commits.alone(task)),
    )
  }

  append(write: Append, ticket: CommitTicket<Receipt>): undefined {
    const documents = encodeDocuments(write.documents)
    try {
      this.#space.assertFor(documents, removesStates(write) ? 'essential' : undefined)
    } catch (error) {
      ticket.reject(error)
      return undefined
    }
    this.commits.push({ write, documents, ticket, receivedAt: Number.NaN })
  }

  async answerOf(thingId: string, id: string, now: number) {
    return (await this.#database.use(() => this.#writeIds.find(thingId, id, now)))?.answer
  }

  read(thingId: string, key: string, query: PageQuery) {
    return this.#database.use(async () => {
      const resource = await this.#resources.find(thingId, key)
      if (resource !== undefined) return await readPage(this.#database, resource, key, query)
      return (await this.#database.level.has(emptiedKey(thingId, key))) ? emptyPage(query) : undefined
    })
  }

  things(page: { after?: string; limit: number }) {
    return this.#database.use(() => this.#resources.things(page))
  }

  resources(thingId: string) {
    return this.#database.use(() => this.#resources.names(thingId))
  }

  state(thingId: string, key: string) {
    return this.#database.use(async () => {
      const bytes = await this.#database.level.get(stateKey(thingId, key))
      return bytes && decodeState(key, bytes)
    })
  }

  snapshot() {
    return this.commits.alone(() =>
      this.#database.use(async () => new LevelSnapshot(this.#database, this.head.counters.writeNumber)),
    )
  }

  catchUp(): Promise<number> {
    return this.commits.alone(async () => this.head.counters.writeNumber)
  }

  remove(thingId: string, key: string, range: TimeRange): Promise<number> {
    return this.#removals.remove(thingId, key, range, { isTold: true })
  }

  removeOld(thingId: string, key: string, before: number, from?: string): Promise<RemovedOld> {
    return this.#database.use(() => this.#old.remove(thingId, key, before, from))
  }

  async removeThing(thingId: string): Promise<void> {
    for (const key of await this.resources(thingId)) {
      await this.#removals.remove(thingId, key, {}, { isTold: false })
    }
    const { writeNumber } = this.head.counters
    // Most of the log is read before writes are held up for what is left to do.
    await this.#database.use(() => this.#log.removeThing(thingId, 0))
    await this.commits.alone(() => this.#database.use(() => this.#removeRest(thingId, writeNumber)))
  }

  async #removeRest(thingId: string, logFrom: number): Promise<void> {
    await this.#log.removeThing(thingId, logFrom)
    await this.#removeStates(thingId)
    const ranges = [
      emptiedKeys(thingId),
      writeIdKeys(thingId),
      writeIdOrderKeys(thingId),
      refusedKeys(thingId),
    ]
    for (const range of ranges) await removeKeys(this.#database, range)
    this.#resources.forgetThing(thingId)
    this.#writeIds.forgetThing(thingId)
    this.#log.forgetThing(thingId)
    this.refused.forgetThing(thingId)
  }

  async #removeStates(thingId: string): Promise<void> {
    for await (const entries of scan(this.#database, stateKeys(thingId))) {
      const batch = this.#database.batch()
      for (const [name] of entries) {
        batch.del(name).del(resourceByKeyKey(namesInThingKey(name).key, thingId))
      }
      await this.#database.write(batch, { sync: true })
    }
  }

  logWhen(isWanted: Parameters<DriverRecords['logWhen']>[0]): void {
    this.#log.isWanted = isWanted
  }

  readLog(query: LogQuery): Promise<readonly Commit[]> {
    return this.#database.use(() => this.#log.read(query))
  }

  trimLog(writeNumbers: readonly number[]): Promise<void> {
    return this.#database.use(() => this.#log.trim(writeNumbers))
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** Whether it does nothing else with states, and keeps no record. */
function removesStates({ records, states = [] }: Append): boolean {
  return records.length === 0 && states.length > 0 && states.every(({ record }) => record === undefined)
}
