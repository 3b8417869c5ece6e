import { ThingwireError } from '../errors.ts'

/** The lock of a client or a task: only its owner acts for the client, or does the task (contract §4.2). */
export interface Lock {
  /** `client/<client id>` or `task/<name>`. */
  readonly name: string
  /** Fencing token: unique to one taking; begins with the node's name and a colon. */
  readonly owner: string
}

/** A lock with its owner before. */
export interface TakenLock extends Lock {
  /** Undefined: the lock was free. */
  readonly before: string | undefined
}

/** The locks of a store. Those of a store that is not shared are in memory, and end with the process. */
export interface Locks {
  /**
   * Takes a lock from whoever has it. Calls of `append`, `put`, `take` and `release` take effect in the order of the calls: what is
   * called in the name of the owner before is refused from here on, and what it has done can be read when this resolves.
   *
   * @throws ThingwireError of the store
   */
  take(name: string): Promise<TakenLock>
  /**
   * Likewise, unless another one has it than this owner, or nobody.
   *
   * @returns undefined if another one has it
   * @throws ThingwireError of the store
   */
  takeFrom(name: string, owner: string | undefined): Promise<TakenLock | undefined>
  /**
   * Ends a lock that is still held, behind what was called before. To be called when all of that has settled, if whoever takes it
   * next is to find it in the store.
   *
   * @throws ThingwireError of the store
   */
  release(lock: Lock): Promise<void>
  /**
   * Calls `listener` when a lock that this node took was taken by another taking, on whichever node, or is gone; it must not
   * throw. Returns how to stop.
   */
  onLost(listener: (lock: Lock) => void): () => void
}

const clientLost = 'another connection has taken over this client'
const taskLost = 'another node does this task now'

/** The change was refused since its lock has another owner now: nothing was done, and a retry is refused, too. */
export class LockLost extends ThingwireError {
  constructor({ name }: Lock) {
    super('store_unavailable', name.startsWith('client/') ? clientLost : taskLost)
  }
}

/** Swallows LockLost: the new owner has taken over. @throws every other error */
export function unlessLost(error: unknown): void {
  if (!(error instanceof LockLost)) throw error
}
