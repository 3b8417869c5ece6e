import { type Lock, LockLost, type Locks, type TakenLock } from '../../core/locks.ts'
import { Listeners } from '../listeners.ts'

/**
 * Locks of a store that one process has alone: in memory. Calls are committed in their order, so it is compared when something is
 * called.
 */
export class SoleLocks implements Locks {
  readonly node: string
  readonly #committed: () => Promise<unknown>
  readonly #owners = new Map<string, string>()
  readonly #listeners = new Listeners<(lock: Lock) => void>()
  readonly onLost = this.#listeners.listen
  #taken = 0

  /**
   * @param node name of this process, that no other has
   * @param committed resolves when what was called before is committed
   */
  constructor(node: string, committed: () => Promise<unknown>) {
    this.node = node
    this.#committed = committed
  }

  isHeld({ name, owner }: Lock): boolean {
    return this.#owners.get(name) === owner
  }

  /** @throws LockLost */
  assertHeld(lock: Lock | undefined): void {
    if (lock && !this.isHeld(lock)) throw new LockLost(lock)
  }

  async take(name: string): Promise<TakenLock> {
    const taken = this.begin(name)
    // Who has released it, had nothing under way any more.
    if (taken.before !== undefined) await this.#committed()
    return taken
  }

  async takeFrom(name: string, owner: string | undefined): Promise<TakenLock | undefined> {
    const present = this.#owners.get(name)
    return present === undefined || present === owner ? await this.take(name) : undefined
  }

  async release(lock: Lock): Promise<void> {
    if (this.isHeld(lock)) this.#owners.delete(lock.name)
  }

  /** Takes a lock at once: what the owner before has still under way may not be committed yet. */
  begin(name: string): TakenLock {
    const before = this.#owners.get(name)
    const owner = `${this.node}:${++this.#taken}`
    this.#owners.set(name, owner)
    if (before !== undefined) for (const listener of this.#listeners) listener({ name, owner: before })
    return { name, owner, before }
  }
}
