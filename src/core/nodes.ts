import type { Lock } from './locks.ts'
import type { RefusedWrite } from './ports.ts'

/** The processes that have the store open. Each is called a node. If the store is not shared, this process is the only node. */
export interface Nodes {
  /** Unique name of this process. */
  readonly self: string
  /** Set if the store is not shared: this process is the only node. */
  readonly isAlone?: true
  /** Names of the live nodes. Omits a killed node after at most 25 s, and omits `self` once other nodes may consider it dead. */
  alive(): Promise<ReadonlySet<string>>
  /**
   * Assigns a task to one node at a time: calls `work` whenever this node gets the task. `stop` is aborted when the node may have
   * lost the task because Redis was unreachable for too long; `work` must end when it is aborted. Once another node has the task,
   * later changes under this node's `lock` are refused. When this node stops or dies, another node gets the task.
   *
   * @param work must not reject. If it ends without an abort, it is called again only when the node has lost and regained the task
   * @returns a function that gives up the task; its promise resolves when `work` has ended
   */
  lead(task: string, work: (stop: AbortSignal, lock: Lock) => Promise<void>): () => Promise<void>
  /**
   * Calls `listener`, which must not throw, with the names of documents that another node has put or removed, in commit order. When
   * it is called, the changes can be read. `names` is undefined if any document may have changed unnoticed.
   *
   * @returns the unsubscribe function
   */
  onDocuments(listener: (names: readonly string[] | undefined) => void): () => void
  /** Calls `listener`, which must not throw, for each refused write that another node adds. @returns the unsubscribe function */
  onRefused(listener: (thingId: string, refused: RefusedWrite) => void): () => void
  /** Sends a message to all nodes that are listening; it may be lost. Messages of one node arrive in the order of the calls. */
  send(message: Uint8Array): void
  /**
   * Calls `listener`, which must not throw, with each message, including messages of this node. Calls `onMissed` when messages may
   * have been lost. Resolves with the unsubscribe function.
   *
   * @throws ThingwireError or Error of the store
   */
  listen(listener: (message: Buffer) => void, onMissed: () => void): Promise<() => void>
  /**
   * Calls `listener`, which must not throw, when commits were missed for good, before the next commit is delivered. Either this
   * node was cut off for longer than the log goes back, or the store has lost delivered commits. Listeners of `onDocuments` are
   * called with undefined. @returns the unsubscribe function
   */
  onGap(listener: () => void): () => void
  logBounds(): Promise<LogBounds>
  /**
   * Whether the log of a shared store has an entry with this write number. In the complete part of the log, an entry is missing
   * only if Redis has failed and lost it, or if its thing was removed.
   */
  hasLogged(writeNumber: number): Promise<boolean>
}

/** Two write numbers. Both are Infinity if the store is not shared: no part of the log is complete, and all may be trimmed. */
export interface LogBounds {
  /** The log contains every later commit, even those that `logWhen` did not select. Earlier commits may have been trimmed. */
  readonly completeAfter: number
  /** `trimLog` keeps all later commits, since another node may still have to read them. */
  readonly trimmableTo: number
}
