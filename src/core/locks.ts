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

/** The locks of a store. If the store is not shared, its locks are in memory and end with the process. */
export interface Locks {
  /**
   * Takes a lock, whoever owns it. `append`, `put`, `take` and `release` take effect in the order of the calls. Later calls under
   * the previous owner's lock are refused. When the promise resolves, everything that the previous owner has stored can be read.
   *
   * @throws ThingwireError if the store fails
   */
  take(name: string): Promise<TakenLock>
  /** Takes a lock if it is free or `owner` holds it; otherwise returns undefined. @throws ThingwireError if the store fails */
  takeFrom(name: string, owner: string | undefined): Promise<TakenLock | undefined>
  /**
   * Frees a lock if it is still held. If the next owner must find the effects of earlier calls in the store, call this only when
   * those calls have settled.
   *
   * @throws ThingwireError if the store fails
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

/** A change was refused because its lock is no longer held. Nothing was changed, and a retry would also be refused. */
export class LockLost extends ThingwireError {
  constructor({ name }: Lock) {
    super('store_unavailable', name.startsWith('client/') ? clientLost : taskLost)
  }
}

/** Ignores LockLost, since the new owner has taken over. @throws `error` if it is not LockLost */
export function unlessLost(error: unknown): void {
  if (!(error instanceof LockLost)) throw error
}
