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
import { GroupCommit, type Committed as Queued } from '../group-commit.ts'
import { readLog, trimLog } from './commit-log.ts'
import { type Committed, Committer, type PendingCommit } from './committer.ts'
import type { NumberedWrites } from './connection/numbered-writes.ts'
import type { Partition } from './connection/partition.ts'
import { encodeDocuments } from './documents.ts'
import type { Follower } from './log/follower.ts'
import { readPage } from './pages.ts'
import { remove, removeOld, removeThing } from './removals.ts'
import { readState, resourceNames, thingIds } from './resources.ts'
import { RedisSnapshot } from './snapshot.ts'
import { answerOf } from './write-ids.ts'

/** Largest group that is committed as one, in bytes: bounds how long Redis does nothing else. */
const maximumGroupBytes = 256 * 1024
const recordOverhead = 64

type QueuedCommit = PendingCommit & Queued<Committed>

/** The records in Redis, as one node has them. */
export class RedisRecords implements DriverRecords {
  readonly commits: GroupCommit<QueuedCommit, Committed>
  readonly #partition: Partition
  readonly #durable: Partition
  readonly #follower: Follower

  /**
   * @param durable the same partition, over the connection for what has to be durable
   * @param writes of the same partition
   * @param observer told of each commit
   */
  constructor(
    partition: Partition,
    durable: Partition,
    writes: NumberedWrites,
    follower: Follower,
    observer?: Pick<Observer, 'committed'>,
  ) {
    this.#partition = partition
    this.#durable = durable
    this.#follower = follower
    const committer = new Committer(writes, follower)
    this.commits = new GroupCommit<QueuedCommit, Committed>(
      committer,
      weigh,
      maximumGroupBytes,
      () => committer.turn(),
      (changes, seconds) => observer?.committed(changes, seconds),
    )
  }

  /** Where the log stands: what is written from now on will be told. */
  async open(): Promise<void> {
    const number = await this.#partition.call('HGET', this.#partition.keys.head, 'number')
    this.#follower.start(Number(number ?? 0))
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
    return answerOf(this.#partition, thingId, id, now)
  }

  read(thingId: string, key: string, query: PageQuery) {
    return readPage(this.#partition, thingId, key, query)
  }

  things(page: { after?: string; limit: number }) {
    return thingIds(this.#partition, page)
  }

  resources(thingId: string) {
    return resourceNames(this.#partition, thingId)
  }

  state(thingId: string, key: string) {
    return readState(this.#partition, thingId, key)
  }

  snapshot(): Promise<Snapshot> {
    return this.commits.alone(async () => {
      const number = await this.#partition.call('HGET', this.#partition.keys.head, 'number')
      await this.#follower.reached(Number(number ?? 0))
      // Listeners may have been told more, of other nodes; what they were told and what it shows must meet.
      return new RedisSnapshot(
        { all: [this.#partition], of: () => this.#partition },
        this.#follower,
        this.#follower.position,
      )
    })
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
    return removeOld(this.#partition, thingId, key, before, from, hold)
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
    return readLog([this.#partition], query)
  }

  trimLog(writeNumbers: readonly number[], hold?: Hold): Promise<void> {
    return trimLog([this.#partition], writeNumbers, hold)
  }
}

function weigh({ change }: PendingCommit): number {
  if ('kind' in change) return recordOverhead
  const { write, documents } = change
  let bytes = recordOverhead
  for (const { value } of write?.records ?? []) bytes += 2 * value.length + recordOverhead
  for (const { record } of write?.states ?? []) bytes += (record?.value.length ?? 0) + recordOverhead
  for (const [name, json] of documents) bytes += name.length + (json?.length ?? 0) + recordOverhead
  return bytes
}
