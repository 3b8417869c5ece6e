import type { Lock, TakenLock } from '../../core/locks.ts'
import type { Admission } from '../connection/admission.ts'
import type { Connection } from '../connection/connection.ts'
import { ConnectionClosed } from '../packets/outcomes.ts'
import type { StoreRetries } from '../sessions/store-retries.ts'
import type { Wills } from '../wills/wills.ts'
import type { ClientLocks } from './client-locks.ts'

/** How long an anonymous connection may go without a valid token, milliseconds (contract §7.1). */
const proofDeadline = 60_000

interface OwnershipParts {
  readonly locks: ClientLocks
  readonly wills: Wills
  readonly retries: StoreRetries
  /** Called with errors that remain after all retries. */
  readonly onFailed: (error: unknown) => void
}

/**
 * Decides which connection acts for a client. A connection with a credential acts from CONNECT on. An anonymous connection acts
 * once it has used a thing's token: it then takes over from an older connection with the same client id and thing.
 */
export class Ownership {
  readonly #parts: OwnershipParts
  /** The newest anonymous connections that have used a token, by `ownerOf`. */
  readonly #authenticated = new Map<string, Connection>()
  /** Takeovers under way, by connection and thing id. */
  readonly #proving = new Map<Connection, Map<string, Promise<void>>>()
  readonly #deadlines = new Map<Connection, NodeJS.Timeout>()

  constructor(parts: OwnershipParts) {
    this.#parts = parts
  }

  /** Takes over the client and handles the will of its previous connection. @throws LockLost @throws ThingwireError if the store fails */
  async takeOver(connection: Connection, clientId: string): Promise<TakenLock> {
    const lock = await this.#parts.locks.take(connection, clientId)
    try {
      const startsClean = connection.asked?.startsClean !== false
      await this.#parts.wills.takeOver(clientId, lock, lock.before, startsClean)
      return lock
    } catch (error) {
      this.#release(lock)
      throw error
    }
  }

  /** Closes the connection unless it uses a valid token in time. */
  expectProof(connection: Connection): void {
    const end = () => connection.close(new ConnectionClosed('unproven'))
    this.#deadlines.set(connection, setTimeout(end, proofDeadline).unref())
  }

  /**
   * Call this when an anonymous client has used a token of a thing.
   *
   * @returns a promise that resolves when the connection has taken over; undefined if it took over earlier or is not anonymous
   * @throws ThingwireError if the store fails
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
      const error = new ConnectionClosed('replaced')
      connection.close(error)
      throw error
    }
    if (!connection.isClosed) this.#authenticated.set(owner, connection)
    const lock = await this.takeOver(connection, owner)
    connection.locksOfThings ??= new Map()
    connection.locksOfThings.set(thingId, lock)
    if (connection.state === 'left') this.#release(lock)
  }

  /** Call this when the connection is closed. Its pending packets are still handled. */
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

  /** Releases the locks. Call this when no packet of the connection is pending. */
  release({ lock, locksOfThings }: Connection): void {
    for (const each of locksOfThings?.values() ?? []) this.#release(each)
    if (lock) this.#release(lock)
  }

  #forgetDeadline(connection: Connection): void {
    clearTimeout(this.#deadlines.get(connection))
    this.#deadlines.delete(connection)
  }

  /** If the store is unavailable until the door closes, the lock is not released, but ends with the node. */
  #release(lock: Lock): void {
    const { retries, locks, onFailed } = this.#parts
    retries.run(() => locks.release(lock)).catch(onFailed)
  }
}

/** Id of the client that a connection acts for. An anonymous connection acts for the thing's client with the given client id. */
export function ownerOf({ kind, clientId, givenClientId }: Admission, thingId: string): string {
  return kind !== 'anonymous' || givenClientId === '' ? clientId : `anonymous.${thingId}:${givenClientId}`
}
