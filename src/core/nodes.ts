import type { Lock } from './locks.ts'
import type { RefusedWrite } from './ports.ts'

/**
 * The processes that have the store open, each of them a node. Of a store that is not `shared` there is one, this.
 */
export interface Nodes {
  /** Name of this process, from its start on; none that there is or was has the same. */
  readonly self: string
  /** Set where the store is not shared: there is no other node, nor will there be while this one is there. */
  readonly isAlone?: true
  /** Names of the nodes that are there. One that was killed is missing within 25 s, `self` as soon as it may be held for dead. */
  alive(): Promise<ReadonlySet<string>>
  /**
   * Has a task done by one node at a time: calls `work` when it falls to this one, and again should it come back. `stop`
   * is aborted when the node may have lost it (Redis was away too long): `work` is to end then, and what it still does in the
   * name of `lock` is refused once another node has the task. When the node stops or dies, the task falls to another.
   *
   * @param work must not reject; may end by itself, and is called no more then until the node has lost the task
   * @returns how to give it up: resolves when `work` has ended
   */
  lead(task: string, work: (stop: AbortSignal, lock: Lock) => Promise<void>): () => Promise<void>
  /**
   * Calls `listener` with the names of documents that another node has put or removed, in commit order and after they can be
   * read; it must not throw. Where this node may have missed some, with undefined: any may have changed. Returns how to stop.
   */
  onDocuments(listener: (names: readonly string[] | undefined) => void): () => void
  /** Calls `listener` for each refused write that another node has added; it must not throw. Returns how to stop. */
  onRefused(listener: (thingId: string, refused: RefusedWrite) => void): () => void
  /** Sends a message to the nodes that listen now; it may be lost. Those of one node come in the order of the calls. */
  send(message: Uint8Array): void
  /**
   * Calls `listener` with each message, also with those of this node; it must not throw. `onMissed` is called when some may not have
   * come. Resolves with how to stop.
   *
   * @throws ThingwireError or Error of the store
   */
  listen(listener: (message: Buffer) => void, onMissed: () => void): Promise<() => void>
  /**
   * Calls `listener` when commits were missed that will not be delivered: the node was cut off for longer than the log
   * goes back, or the store has lost what it had delivered. It is called before the next commit is delivered; it must not throw.
   * Listeners of `onDocuments` get undefined, too. Returns how to stop.
   */
  onGap(listener: () => void): () => void
  /** How far the commit log goes back now. */
  logBounds(): Promise<LogBounds>
  /**
   * Whether the log of a shared store has an entry of this number. One that it has not, though it is complete there, was lost
   * with a Redis that failed, or was of a thing that is removed.
   */
  hasLogged(writeNumber: number): Promise<boolean>
}

/** Write numbers. In a store that is not shared both are Infinity: the log holds what `logWhen` wanted alone. */
export interface LogBounds {
  /** Every commit behind it is in the log, wanted or not; of what is not behind it, only what `trimLog` has left. */
  readonly completeAfter: number
  /** `trimLog` removes nothing behind it: another node may still have to read it. */
  readonly trimmableTo: number
}
