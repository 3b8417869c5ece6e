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
  /** Called with what could not be done in the end. */
  readonly onFailed: (error: unknown) => void
}

/** What is left to be done for connections that are gone: session, will and locks, when what they had under way is done. */
export class Departures {
  readonly #parts: DeparturesParts
  readonly #leavings = new Set<Promise<void>>()
  /** Names of the wills that this process leaves: they wait for their clients, for the next process or for another node. */
  readonly #orphanedWills = new Set<string>()
  #isClosing = false

  constructor(parts: DeparturesParts) {
    this.#parts = parts
  }

  /** The connection is gone. Can be called more than once. */
  leave(connection: Connection): void {
    const leaving = this.#leave(connection)
      .catch(this.#parts.onFailed)
      .finally(() => this.#leavings.delete(leaving))
    this.#leavings.add(leaving)
  }

  /** The client takes leave as it should. @returns resolves when it has no will any more; undefined: it has none */
  forgetWill(connection: Connection): Promise<void> | undefined {
    const { will } = connection
    return will && this.#discard(connection, will)
  }

  async #discard(connection: Connection, { name, lock }: KeptWill): Promise<void> {
    await this.#parts.wills.discard(name, lock)
    connection.will = undefined
  }

  /**
   * From here on wills are not written, but left. Resolves when those of these connections are known to be: not before may a
   * client see that it was closed, since another node, to which it comes, would write the will of a connection that it still takes
   * for open. Never rejects.
   */
  async leaveWills(connections: readonly Connection[]): Promise<void> {
    this.#isClosing = true
    await this.#leaveAll(connections.flatMap(({ will }) => (will ? [will.name] : [])))
  }

  /** Resolves when nothing is left to be done here. */
  async close(): Promise<void> {
    await Promise.all([this.#parts.wills.close(), ...this.#leavings])
  }

  async #leave(connection: Connection): Promise<void> {
    const { ownership, sessions } = this.#parts
    ownership.leave(connection)
    connection.live.close()
    await connection.admitting
    // What was published before comes before the will, and is covered by the lock.
    await connection.inbound.whenIdle()
    const { session, will, end, state } = connection
    connection.session = undefined
    connection.will = undefined
    const left = session && sessions.leave(session)
    await Promise.all([
      left,
      this.#endRelay(connection),
      will && this.#leaveWill(will, end === 'disconnect' || state === 'rejected'),
    ])
    connection.left()
    ownership.release(connection)
  }

  async #endRelay({ relayed }: Connection): Promise<void> {
    const { relay, retries } = this.#parts
    if (relay && relayed) await retries.run(() => relay.end(relayed))
  }

  async #leaveWill({ name, will, lock }: KeptWill, isVoid: boolean): Promise<void> {
    const { retries, wills } = this.#parts
    // In nobody's name: if the lock was lost, whoever takes the client next would find a will that never applied, and write it.
    if (isVoid) await retries.run(() => wills.discard(name, undefined))
    else if (!this.#isClosing) await wills.write(name, will, lock)
    // Of a client that was being admitted when this process began to close.
    else if (!this.#orphanedWills.has(name)) await this.#leaveAll([name])
  }

  async #leaveAll(names: readonly string[]): Promise<void> {
    for (const name of names) this.#orphanedWills.add(name)
    // Where the store is away, they are those of a process that has died.
    await this.#parts.wills.leave(names).catch(() => {})
  }
}
