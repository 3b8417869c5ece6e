import { type Lock, LockLost, type Locks, type TakenLock } from '../../core/locks.ts'
import type { Connection } from '../connection/connection.ts'
import { clientLock } from '../sessions/client-lock.ts'

/** Which connection acts for a client, on whichever node (contract §4.2): the one that came last. It alone stays (MQTT-3.1.4-2). */
export class ClientLocks {
  readonly #locks: Locks
  readonly #onReplaced: (connection: Connection, name: string) => void
  readonly #stopListening: () => void
  /** By owner. */
  readonly #connections = new Map<string, Connection>()
  #underWay = 0
  /** Owners that were lost while some were being taken: perhaps of a connection that is not known here yet. */
  readonly #lost = new Set<string>()

  /** @param onReplaced called with a connection whose client another one has taken, and the name of its lock, before it is closed */
  constructor(locks: Locks, onReplaced: (connection: Connection, name: string) => void) {
    this.#locks = locks
    this.#onReplaced = onReplaced
    this.#stopListening = locks.onLost(({ name, owner }) => {
      const connection = this.#connections.get(owner)
      if (connection) this.#close(connection, name)
      else if (this.#underWay > 0) this.#lost.add(owner)
    })
  }

  /**
   * From here on the connection acts for the client. What others have done for it before can be read when this resolves.
   *
   * @param clientId inside the broker
   * @throws LockLost if the connection is gone, and another one has the client
   * @throws ThingwireError of the store
   */
  async take(connection: Connection, clientId: string): Promise<TakenLock> {
    this.#underWay++
    try {
      const lock = await this.#takeFor(connection, clientLock(clientId))
      this.#connections.set(lock.owner, connection)
      if (this.#lost.has(lock.owner)) this.#close(connection, lock.name)
      return lock
    } finally {
      if (--this.#underWay === 0) this.#lost.clear()
    }
  }

  /** For one that is gone, and has published before, nobody is to be replaced. */
  async #takeFor(connection: Connection, name: string): Promise<TakenLock> {
    if (!connection.socket.destroyed) return await this.#locks.take(name)
    const lock = await this.#locks.takeFrom(name, undefined)
    if (!lock) throw new LockLost({ name, owner: '' })
    return lock
  }

  /** Whether the CONNECT of the connection that has taken it here was refused. */
  isRefused(owner: string): boolean {
    return this.#connections.get(owner)?.state === 'rejected'
  }

  /** The connection is gone, and everything that it had under way is done. @throws ThingwireError of the store */
  async release(lock: Lock): Promise<void> {
    this.#connections.delete(lock.owner)
    await this.#locks.release(lock)
  }

  close(): void {
    this.#stopListening()
  }

  #close(connection: Connection, name: string): void {
    this.#onReplaced(connection, name)
    connection.evict(new Error('the client has connected again'))
  }
}
