import { type Lock, LockLost, type Locks, type TakenLock } from '../../core/locks.ts'
import type { Connection } from '../connection/connection.ts'
import { ConnectionClosed } from '../packets/outcomes.ts'
import { clientLock } from '../sessions/session.ts'

/** The locks of clients (contract §4.2). A client's newest connection, on any node, replaces the previous one (MQTT-3.1.4-2). */
export class ClientLocks {
  readonly #locks: Locks
  readonly #onReplaced: (connection: Connection, name: string) => void
  readonly #stopListening: () => void
  /** Connections by owner of the lock. */
  readonly #connections = new Map<string, Connection>()
  #underWay = 0
  /** Owners that lost their locks during a call of `take`. Their connections may not be in `#connections` yet. */
  readonly #lost = new Set<string>()

  /** @param onReplaced called before a replaced connection is closed, with the name of its lock */
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
   * Takes the client's lock. When this resolves, all documents stored by former owners of the lock can be read.
   *
   * @param clientId client id inside the broker
   * @throws LockLost if the connection is closed and another connection has the lock
   * @throws ThingwireError if the store fails
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

  /** A closed connection may need the lock for pending PUBLISHes, but must not replace another connection. */
  async #takeFor(connection: Connection, name: string): Promise<TakenLock> {
    if (!connection.isClosed) return await this.#locks.take(name)
    const lock = await this.#locks.takeFrom(name, undefined)
    if (!lock) throw new LockLost({ name, owner: '' })
    return lock
  }

  /** Whether this node refused the CONNECT of the connection that owns the lock. */
  isRefused(owner: string): boolean {
    return this.#connections.get(owner)?.state === 'rejected'
  }

  /** Call this when the connection is closed and none of its packets is pending. @throws ThingwireError if the store fails */
  async release(lock: Lock): Promise<void> {
    this.#connections.delete(lock.owner)
    await this.#locks.release(lock)
  }

  close(): void {
    this.#stopListening()
  }

  #close(connection: Connection, name: string): void {
    this.#onReplaced(connection, name)
    connection.close(new ConnectionClosed('replaced'))
  }
}
