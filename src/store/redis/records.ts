import type { Hold } from '../../core/holds.ts'
import type { Observer } from '../../core/observer.ts'
import { promised, settle } from '../commit-ticket.ts'
import type {
  Append,
  Commit,
  CommitTicket,
  DriverRecords,
  LogQuery,
  PageQuery,
  Receipt,
  RemovedOld,
  Snapshot,
  TimeRange,
} from '../contract.ts'
import { GroupCommit, type PendingCommit } from '../group-commit.ts'
import { weigh } from '../weigh.ts'
import { readLog, trimLog } from './commit-log.ts'
import { type Committed, RedisCommitter, type RedisPendingCommit } from './committer.ts'
import type { RedisDatabase } from './connection/database.ts'
import type { NumberedWrites } from './connection/numbered-writes.ts'
import { encodeDocuments } from './documents.ts'
import type { Follower } from './log/follower.ts'
import { readPage } from './pages.ts'
import { newestWriteNumber, remove, removeOld, removeThing } from './removals.ts'
import { readState, resourceNames, thingIds } from './resources.ts'
import { RedisSnapshot } from './snapshot.ts'
import { answerOf } from './write-ids.ts'

/** Largest group that is committed as one, in bytes as `weigh` has them: bounds how long Redis does nothing else. */
const maximumGroupBytes = 128 * 1024

type QueuedCommit = RedisPendingCommit & PendingCommit<Committed>

/** The records in Redis, as one node has them. */
export class RedisRecords implements DriverRecords {
  readonly commits: GroupCommit<QueuedCommit, Committed>
  readonly #database: RedisDatabase
  readonly #durable: RedisDatabase
  readonly #follower: Follower

  /**
   * @param durable the same database, over the connection for what has to be durable
   * @param writes of the same database
   * @param observer told of each commit
   */
  constructor(
    database: RedisDatabase,
    durable: RedisDatabase,
    writes: NumberedWrites,
    follower: Follower,
    observer?: Pick<Observer, 'committed'>,
  ) {
    this.#database = database
    this.#durable = durable
    this.#follower = follower
    const committer = new RedisCommitter(writes, follower)
    this.commits = new GroupCommit<QueuedCommit, Committed>(
      committer,
      ({ change }) => ('kind' in change ? weigh(undefined, []) : weigh(change.write, change.documents)),
      maximumGroupBytes,
      () => committer.turn(),
      (changes, seconds) => observer?.committed(changes, seconds),
    )
  }

  /** Where the log stands: what is written from now on will be told. */
  async open(): Promise<void> {
    this.#follower.start(await newestWriteNumber(this.#database))
  }

  append(write: Append, ticket: CommitTicket<Receipt>): undefined {
    const change = { write, documents: encodeDocuments(write.documents), hold: write.hold }
    const committed = promised<Receipt>(ticket, own => this.commits.push({ change, ticket: own }))
    settle(ticket, this.#told(committed))
  }

  /** Its listeners come first. */
  async #told(committed: Promise<Receipt>): Promise<Receipt> {
    const receipt = await committed
    await this.#follower.reached(receipt.writeNumber)
    return receipt
  }

  answerOf(thingId: string, id: string, now: number) {
    return answerOf(this.#database, thingId, id, now)
  }

  read(thingId: string, key: string, query: PageQuery) {
    return readPage(this.#database, thingId, key, query)
  }

  things(page: { after?: string; limit: number }) {
    return thingIds(this.#database, page)
  }

  resources(thingId: string) {
    return resourceNames(this.#database, thingId)
  }

  state(thingId: string, key: string) {
    return readState(this.#database, thingId, key)
  }

  snapshot(): Promise<Snapshot> {
    return this.commits.alone(async () => {
      await this.#hearAll()
      // Listeners may have been told more, of other nodes; what they were told and what it shows must meet.
      return new RedisSnapshot(this.#database, this.#follower, this.#follower.newestTold)
    })
  }

  catchUp(): Promise<number> {
    return this.commits.alone(async () => {
      await this.#hearAll()
      return this.#follower.newestTold
    })
  }

  /** Resolves when listeners were told of all that is in the log now. */
  async #hearAll(): Promise<void> {
    await this.#follower.reached(await newestWriteNumber(this.#database))
  }

  /** It waits for replicas like a write: what was deleted must not come back with a failover. */
  async remove(thingId: string, key: string, range: TimeRange): Promise<number> {
    const alone = <T>(task: () => Promise<T>) => this.commits.alone(task)
    const { count, writeNumber } = await remove(this.#durable, alone, thingId, key, range)
    await this.#follower.reached(writeNumber ?? 0)
    return count
  }

  /** What a Redis that fails forgets of it is removed again. */
  removeOld(thingId: string, key: string, before: number, from?: string, hold?: Hold): Promise<RemovedOld> {
    return removeOld(this.#database, thingId, key, before, from, hold)
  }

  async removeThing(thingId: string): Promise<void> {
    // What was handed in before goes, too; what comes later need not wait.
    await this.commits.alone(async () => {})
    await removeThing(this.#durable, thingId)
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    return this.#follower.listeners.onCommit(listener)
  }

  /** Nothing to do: for a while all is kept, since another node may have to read it. */
  logWhen(): void {}

  readLog(query: LogQuery): Promise<readonly Commit[]> {
    return readLog(this.#database, query)
  }

  trimLog(writeNumbers: readonly number[], hold?: Hold): Promise<void> {
    return trimLog(this.#database, writeNumbers, hold)
  }
}
