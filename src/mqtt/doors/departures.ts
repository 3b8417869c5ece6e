import type { Connection, KeptWill } from '../connection/connection.ts'
import type { Relay } from '../relay/relay.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { StoreRetries } from '../sessions/store-retries.ts'
import type { Wills } from '../wills/wills.ts'
import type { Ownership } from './ownership.ts'

interface DeparturesParts {
  readonly sessions: Sessions
  readonly wills: Wills
  readonly ownership: Ownership
  readonly relay: Relay | undefined
  readonly retries: StoreRetries
  /** Called with errors that remain after all retries. */
  readonly onFailed: (error: unknown) => void
}

/** Cleans up the session, will and locks of each closed connection, once none of its packets is pending. */
export class Departures {
  readonly #parts: DeparturesParts
  readonly #leavings = new Set<Promise<void>>()
  /** Names of the wills that this process has left in the store. */
  readonly #orphanedWills = new Set<string>()
  #isClosing = false

  constructor(parts: DeparturesParts) {
    this.#parts = parts
  }

  /** Call this when the connection is closed. May be called more than once. */
  leave(connection: Connection): void {
    const leaving = this.#leave(connection)
      .catch(this.#parts.onFailed)
      .finally(() => this.#leavings.delete(leaving))
    this.#leavings.add(leaving)
  }

  /** Discards the will after a DISCONNECT. @returns a promise that resolves when this is done; undefined if there is no will */
  forgetWill(connection: Connection): Promise<void> | undefined {
    const { will } = connection
    return will && this.#discard(connection, will)
  }

  async #discard(connection: Connection, { name, lock }: KeptWill): Promise<void> {
    await this.#parts.wills.discard(name, lock)
    connection.will = undefined
  }

  /**
   * Wills of connections that close after this call stay in the store. Close connections only when this resolves: otherwise, if a
   * client reconnects to another node, that node would consider the old connection open and write its will. Never rejects.
   */
  async leaveWills(connections: readonly Connection[]): Promise<void> {
    this.#isClosing = true
    await this.#leaveAll(connections.flatMap(({ will }) => (will ? [will.name] : [])))
  }

  /** Resolves when all closed connections are cleaned up. */
  async close(): Promise<void> {
    await Promise.all([this.#parts.wills.close(), ...this.#leavings])
  }

  async #leave(connection: Connection): Promise<void> {
    const { ownership, sessions, relay, retries } = this.#parts
    ownership.leave(connection)
    connection.live.close()
    await connection.admitting
    // Pending PUBLISHes are written before the will, and need the lock.
    await connection.inbound.whenIdle()
    const { session, will, relayed, end, state } = connection
    connection.session = undefined
    connection.will = undefined
    await Promise.all([
      session && sessions.leave(session),
      relay && relayed && retries.run(() => relay.end(relayed)),
      will && this.#leaveWill(will, end === 'disconnect' || state === 'rejected', session?.expiry),
    ])
    connection.left()
    ownership.release(connection)
  }

  /** @param expiry how long the session lasts, seconds */
  async #leaveWill({ name, will, lock }: KeptWill, isVoid: boolean, expiry = 0): Promise<void> {
    const { retries, wills } = this.#parts
    // No lock is passed: if the lock was lost, discarding would fail, and the lock's next owner would write the void will.
    if (isVoid) await retries.run(() => wills.discard(name, undefined))
    else if (!this.#isClosing) {
      const delay = Math.min(will.delay ?? 0, expiry)
      await wills.leaveOrWrite(name, { ...will, delay }, lock)
    }
    // `leaveWills` missed this will, since the client was still being admitted.
    else if (!this.#orphanedWills.has(name)) await this.#leaveAll([name])
  }

  async #leaveAll(names: readonly string[]): Promise<void> {
    for (const name of names) this.#orphanedWills.add(name)
    // If the store is unavailable, other nodes treat these wills like wills of a dead process.
    await this.#parts.wills.leave(names).catch(() => {})
  }
}
