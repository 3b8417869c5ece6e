import type { Lock } from './locks.ts'
import type { RefusedWrite } from './ports.ts'

/** The processes that have the store open, each of them a node. An unshared store has only this one. */
export interface Nodes {
  /** Unique name of this process. */
  readonly self: string
  /** Set if the store is not shared, so that this is the only node. */
  readonly isAlone?: true
  /** Names of the live nodes. A killed node is missing within 25 s, `self` as soon as others may take it for dead. */
  alive(): Promise<ReadonlySet<string>>
  /**
   * Assigns a task to one node at a time: calls `work` when this node gets the task, perhaps several times. `stop` is aborted when
   * the node may have lost it (Redis was away too long). `work` must end then; its later changes under `lock` are refused once
   * another node has the task. When the node stops or dies, another one gets the task.
   *
   * @param work must not reject. If it ends by itself, it is not called again until the node has lost the task
   * @returns gives the task up; resolves when `work` has ended
   */
  lead(task: string, work: (stop: AbortSignal, lock: Lock) => Promise<void>): () => Promise<void>
  /**
   * Calls `listener` with the names of documents that another node has put or removed, in commit order, once they can be read; it
   * must not throw. Undefined: this node may have missed some, and any may have changed. @returns the unsubscribe function
   */
  onDocuments(listener: (names: readonly string[] | undefined) => void): () => void
  /** Calls `listener` for each refused write that another node has added; it must not throw. @returns the unsubscribe function */
  onRefused(listener: (thingId: string, refused: RefusedWrite) => void): () => void
  /** Sends a message to the nodes that listen now; it may be lost. Messages of one node come in the order of the calls. */
  send(message: Uint8Array): void
  /**
   * Calls `listener` with each message, also of this node; it must not throw. `onMissed` is called when some may be lost. Resolves
   * with the unsubscribe function.
   *
   * @throws ThingwireError or Error of the store
   */
  listen(listener: (message: Buffer) => void, onMissed: () => void): Promise<() => void>
  /**
   * Calls `listener` when commits were missed for good: the node was cut off for longer than the log goes back, or the store has
   * lost delivered commits. That happens before the next commit is delivered; it must not throw. Listeners of `onDocuments` get
   * undefined, too. @returns the unsubscribe function
   */
  onGap(listener: () => void): () => void
  logBounds(): Promise<LogBounds>
  /**
   * Whether the log of a shared store has an entry of this number. In the complete part of the log, an entry is missing only if
   * Redis has failed and lost it, or if its thing is removed.
   */
  hasLogged(writeNumber: number): Promise<boolean>
}

/** Write numbers. In an unshared store both are Infinity: the log has only what `logWhen` wanted. */
export interface LogBounds {
  /** The log has every later commit, wanted or not; of earlier ones, only what `trimLog` has left. */
  readonly completeAfter: number
  /** `trimLog` keeps all later commits, which another node may still have to read. */
  readonly trimmableTo: number
}
