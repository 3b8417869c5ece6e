import { ThingwireError } from '../errors.ts'

/** The lock of a client or a task: only the owner of the lock may act for the client or do the task (contract §4.2). */
export interface Lock {
  /** `client/<client id>` or `task/<name>`. */
  readonly name: string
  /** Fencing token, different for each `take`. Begins with the node's name and a colon. */
  readonly owner: string
}

export interface TakenLock extends Lock {
  /** The previous owner; undefined if the lock was free. */
  readonly before: string | undefined
}

/** The locks of a store. A store that is not shared has them in memory, so they end with the process. */
export interface Locks {
  /**
   * Takes a lock from its owner. `append`, `put`, `take` and `release` take effect in the order of the calls: later calls under the
   * previous owner's lock are refused, and everything that this owner has stored can be read when the promise resolves.
   *
   * @throws ThingwireError of the store
   */
  take(name: string): Promise<TakenLock>
  /** Takes a lock if it is free or `owner` has it. @returns undefined if someone else has it @throws ThingwireError of the store */
  takeFrom(name: string, owner: string | undefined): Promise<TakenLock | undefined>
  /**
   * Frees a lock that is still held, after all earlier calls. If the next owner must find the effects of earlier calls in the
   * store, call this only when they have settled.
   *
   * @throws ThingwireError of the store
   */
  release(lock: Lock): Promise<void>
  /**
   * Calls `listener`, which must not throw, when a lock of this node is taken again on any node, or has expired.
   * @returns the unsubscribe function
   */
  onLost(listener: (lock: Lock) => void): () => void
}

const clientLost = 'another connection has taken over this client'
const taskLost = 'another node does this task now'

/** A change was refused, since its lock has another owner now. Nothing was changed. A retry would be refused as well. */
export class LockLost extends ThingwireError {
  constructor({ name }: Lock) {
    super('store_unavailable', name.startsWith('client/') ? clientLost : taskLost)
  }
}

/** Ignores LockLost, since the new owner has taken over. @throws `error` if it is not LockLost */
export function unlessLost(error: unknown): void {
  if (!(error instanceof LockLost)) throw error
}
