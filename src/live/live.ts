import type { Nodes } from '../core/nodes.ts'
import type { Observer } from '../core/observer.ts'
import type { Commit, RecordStore, Snapshot } from '../core/ports.ts'
import { LiveWrite } from './live-write.ts'
import { LogKeeper, type LogKeeperParts } from './log-keeper.ts'
import { Sequencer } from './sequencer.ts'
import { type Subscriber, Subscribers } from './subscribers.ts'

interface LiveParts extends LogKeeperParts {
  readonly nodes: Pick<Nodes, 'lead' | 'logBounds' | 'onGap'>
  readonly observer?: Observer | undefined
}

/**
 * Delivers every commit, in commit order, to the subscribers of its thing.
 *
 * ```
 * store ── onCommit ──► sequencer ──► subscribers ──► outbox of each ──► socket
 *   └────────────── commit log (for log readers) ──────► replay ──┘
 * ```
 */
export class Live {
  readonly log: LogKeeper
  readonly #records: RecordStore
  readonly #observer: Observer | undefined
  readonly #subscribers = new Subscribers()
  readonly #sequencer: Sequencer
  readonly #isShared: boolean
  #keptWriteNumber: number
  readonly #stopListening: readonly (() => void)[]

  /** @param writeNumber number of the newest write that the store holds */
  constructor(parts: LiveParts, writeNumber: number) {
    const { records, nodes, observer } = parts
    this.#records = records
    this.#observer = observer
    this.#isShared = parts.isShared
    this.#keptWriteNumber = writeNumber
    const deliverMissed = () => {
      for (const subscriber of this.#subscribers.all) subscriber.missed?.()
    }
    const handOn = (commit: Commit, takenAt: number) => this.#handOn(commit, takenAt)
    this.#sequencer = new Sequencer(writeNumber, handOn, deliverMissed)
    this.log = new LogKeeper(parts)
    records.logWhen(write => this.log.isWanted(write))
    this.#stopListening = [
      records.onCommit(commit => this.#sequencer.take(commit)),
      nodes.onGap(() => this.#sequencer.atEnd(deliverMissed)),
    ]
  }

  /** Number of the newest delivered write. For clients, use `keptWriteNumber`: after a crash, another write may get this number. */
  get writeNumber(): number {
    return this.#sequencer.writeNumber
  }

  /** Number of the newest delivered write that keeps its number even after a crash. */
  get keptWriteNumber(): number {
    return this.#isShared ? this.writeNumber : this.#keptWriteNumber
  }

  /** Bytes of undelivered commits. */
  get waiting(): number {
    return this.#sequencer.waiting
  }

  /** Number of subscriptions: a subscriber counts once for each of its things. */
  get subscriptions(): number {
    return this.#subscribers.size
  }

  /** If too many commits are undelivered, resolves when writes may go on; undefined if they may go on now. */
  room(): Promise<void> | undefined {
    return this.#sequencer.room()
  }

  /** Subscribes from the next write on. @param thingId undefined for every thing */
  subscribe(thingId: string | undefined, subscriber: Subscriber): void {
    this.#subscribers.add(thingId, subscriber)
  }

  /** @param thingId undefined for every thing */
  unsubscribe(thingId: string | undefined, subscriber: Subscriber): void {
    this.#subscribers.delete(thingId, subscriber)
  }

  /**
   * Takes a snapshot of the store. Calls `reached` when the writes in the snapshot are delivered to subscribers, and before later
   * writes are delivered. The caller must close the snapshot.
   *
   * @throws ThingwireError if the store fails
   */
  async snapshot(reached: () => void): Promise<Snapshot> {
    const snapshot = await this.#records.snapshot()
    await this.#handedOn(snapshot.writeNumber, reached)
    return snapshot
  }

  /** Calls `reached` when all commits made before the call, on any node, are delivered. @throws ThingwireError if the store fails */
  async catchUp(reached: () => void = () => {}): Promise<void> {
    await this.#handedOn(await this.#records.catchUp(), reached)
  }

  /** Reports that messages were written to a subscriber's socket. @param committedAt `committedAt` of the oldest `LiveWrite` */
  sent(committedAt: number | undefined): void {
    if (committedAt !== undefined) this.#observer?.fannedOut((performance.now() - committedAt) / 1_000)
  }

  /** Sends a refused write to the subscribers of the thing. @param payload JSON text */
  sendRefused(thingId: string, payload: Buffer): void {
    this.#subscribers.each(thingId, subscriber => subscriber.deliverRefused?.(thingId, payload))
  }

  /** Stops delivering. Resolves when trimming of the log has ended. */
  async close(): Promise<void> {
    for (const stop of this.#stopListening) stop()
    this.#sequencer.stop()
    await this.log.close()
  }

  #handedOn(writeNumber: number, reached: () => void): Promise<void> {
    return new Promise(resolve => {
      this.#sequencer.at(writeNumber, () => {
        reached()
        resolve()
      })
    })
  }

  /** @returns whether the commit was delivered to any subscriber */
  #handOn(commit: Commit, committedAt: number): boolean {
    this.log.count(commit)
    if (commit.stored) this.#keptWriteNumber = commit.writeNumber
    if (!commit.broadcast || !this.#subscribers.has(commit.thingId)) return false
    const write = new LiveWrite(commit, committedAt)
    this.#subscribers.each(commit.thingId, subscriber => subscriber.deliver(write))
    return true
  }
}
