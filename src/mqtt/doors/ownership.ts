import type { Lock, TakenLock } from '../../core/locks.ts'
import type { Admission } from '../connection/admission.ts'
import type { Connection } from '../connection/connection.ts'
import type { StoreRetries } from '../sessions/store-retries.ts'
import type { Wills } from '../wills/wills.ts'
import type { ClientLocks } from './client-locks.ts'

/** How long an anonymous connection may do without a valid token, milliseconds (contract §7). */
const proofDeadline = 60_000

interface OwnershipParts {
  readonly locks: ClientLocks
  readonly wills: Wills
  readonly retries: StoreRetries
  /** Called with what could not be done in the end. */
  readonly onFailed: (error: unknown) => void
}

/**
 * For which clients connections act. One with a credential does from CONNECT on. One without is a scope of its own until it has
 * used a token: from then on it stands for that thing, and takes over from an older one with the same client id.
 */
export class Ownership {
  readonly #parts: OwnershipParts
  /** The newest anonymous ones that have used a token, by `ownerOf`. */
  readonly #authenticated = new Map<string, Connection>()
  /** By connection and thing id, while the client is taken over. */
  readonly #proving = new Map<Connection, Map<string, Promise<void>>>()
  readonly #deadlines = new Map<Connection, NodeJS.Timeout>()

  constructor(parts: OwnershipParts) {
    this.#parts = parts
  }

  /**
   * From when this resolves on the connection acts for the client, and the will of the one before it is dealt with.
   *
   * @throws LockLost @throws ThingwireError of the store
   */
  async takeOver(connection: Connection, clientId: string): Promise<TakenLock> {
    const lock = await this.#parts.locks.take(connection, clientId)
    try {
      await this.#parts.wills.takeOver(clientId, lock, lock.before)
      return lock
    } catch (error) {
      this.#release(lock)
      throw error
    }
  }

  /** Ends the connection unless it proves to know a token. */
  expectProof(connection: Connection): void {
    const end = () => connection.close(new Error('no valid token came in time'))
    this.#deadlines.set(connection, setTimeout(end, proofDeadline).unref())
  }

  /**
   * A client has shown that it may act for a thing.
   *
   * @returns resolves when the connection acts for it alone; undefined: it does, or has a credential of its own
   * @throws ThingwireError of the store
   */
  prove(connection: Connection, thingId: string): Promise<void> | undefined {
    const { admission } = connection
    if (admission?.kind !== 'anonymous' || connection.actsFor(thingId)) return undefined
    const proving = this.#proving.get(connection) ?? new Map<string, Promise<void>>()
    this.#proving.set(connection, proving)
    const underWay = proving.get(thingId)
    if (underWay) return underWay
    const beginning = this.#authenticate(connection, ownerOf(admission, thingId), thingId).finally(() => {
      proving.delete(thingId)
      if (proving.size === 0) this.#proving.delete(connection)
    })
    proving.set(thingId, beginning)
    return beginning
  }

  async #authenticate(connection: Connection, owner: string, thingId: string): Promise<void> {
    this.#forgetDeadline(connection)
    const other = this.#authenticated.get(owner)
    if (other && other.place > connection.place) {
      const error = new Error('the same client has connected again')
      connection.evict(error)
      throw error
    }
    if (!connection.socket.destroyed) this.#authenticated.set(owner, connection)
    const lock = await this.takeOver(connection, owner)
    connection.locksOfThings ??= new Map()
    connection.locksOfThings.set(thingId, lock)
    if (connection.state === 'left') this.#release(lock)
  }

  /** The connection is gone. What it has under way goes on. */
  leave(connection: Connection): void {
    this.#forgetDeadline(connection)
    const { admission, locksOfThings } = connection
    if (!admission) return
    const things = [...(locksOfThings?.keys() ?? []), ...(this.#proving.get(connection)?.keys() ?? [])]
    for (const thingId of things) {
      const owner = ownerOf(admission, thingId)
      if (this.#authenticated.get(owner) === connection) this.#authenticated.delete(owner)
    }
  }

  /** Nothing of the connection is under way any more. */
  release({ lock, locksOfThings }: Connection): void {
    for (const each of locksOfThings?.values() ?? []) this.#release(each)
    if (lock) this.#release(lock)
  }

  #forgetDeadline(connection: Connection): void {
    clearTimeout(this.#deadlines.get(connection))
    this.#deadlines.delete(connection)
  }

  /** What the store fails, ends with the node. */
  #release(lock: Lock): void {
    const { retries, locks, onFailed } = this.#parts
    retries.run(() => locks.release(lock)).catch(onFailed)
  }
}

/** For whom a connection acts with a thing. Of an anonymous one, from when it has used a token on: the client of that id of the thing. */
export function ownerOf({ kind, clientId, givenClientId }: Admission, thingId: string): string {
  return kind !== 'anonymous' || givenClientId === '' ? clientId : `anonymous.${thingId}:${givenClientId}`
}
