import { ThingwireError } from '../errors.ts'

/** The lock of a client or a task: only its owner acts for the client, or does the task (contract §4.2). */
export interface Lock {
  /** `client/<client id>` or `task/<name>`. */
  readonly name: string
  /** Fencing token, unique to each `take`; begins with the node's name and a colon. */
  readonly owner: string
}

export interface TakenLock extends Lock {
  /** The previous owner; undefined: the lock was free. */
  readonly before: string | undefined
}

/** The locks of a store. An unshared store has them in memory, so they end with the process. */
export interface Locks {
  /**
   * Takes a lock from its owner. `append`, `put`, `take` and `release` take effect in the order of the calls: later calls under the
   * previous owner's lock are refused, and everything that it has stored can be read when this resolves.
   *
   * @throws ThingwireError of the store
   */
  take(name: string): Promise<TakenLock>
  /** The same only if `owner` has the lock, or nobody. @returns undefined: another one has it. @throws ThingwireError of the store */
  takeFrom(name: string, owner: string | undefined): Promise<TakenLock | undefined>
  /**
   * Ends a lock that is still held, after all earlier calls. Call it when those have settled, if the next owner must find their
   * effects in the store.
   *
   * @throws ThingwireError of the store
   */
  release(lock: Lock): Promise<void>
  /**
   * Calls `listener` when a lock that this node has taken is taken again, on any node, or has expired; it must not throw.
   * @returns the unsubscribe function
   */
  onLost(listener: (lock: Lock) => void): () => void
}

const clientLost = 'another connection has taken over this client'
const taskLost = 'another node does this task now'

/** The lock of a change has another owner now: nothing was done, and a retry would be refused, too. */
export class LockLost extends ThingwireError {
  constructor({ name }: Lock) {
    super('store_unavailable', name.startsWith('client/') ? clientLost : taskLost)
  }
}

/** Ignores LockLost, since the new owner has taken over. @throws every other error */
export function unlessLost(error: unknown): void {
  if (!(error instanceof LockLost)) throw error
}
