import { type Hold, HoldLost, type Holds, type TakenHold } from '../../core/holds.ts'
import type { Connection } from '../connection/connection.ts'
import { clientHold } from '../sessions/client-hold.ts'

/** Which connection acts for a client, on whichever node (contract §4.2): the one that came last. It alone stays (MQTT-3.1.4-2). */
export class ClientHolds {
  readonly #holds: Holds
  readonly #onReplaced: (connection: Connection, name: string) => void
  readonly #stopListening: () => void
  /** By holder. */
  readonly #connections = new Map<string, Connection>()
  #underWay = 0
  /** Holders that were lost while some were being taken: perhaps of a connection that is not known here yet. */
  readonly #lost = new Set<string>()

  /** @param onReplaced told of a connection whose client another one has taken, and the name of its hold, before it is closed */
  constructor(holds: Holds, onReplaced: (connection: Connection, name: string) => void) {
    this.#holds = holds
    this.#onReplaced = onReplaced
    this.#stopListening = holds.onLost(({ name, holder }) => {
      const connection = this.#connections.get(holder)
      if (connection) this.#close(connection, name)
      else if (this.#underWay > 0) this.#lost.add(holder)
    })
  }

  /**
   * From here on the connection acts for the client. What others have done for it before can be read when this resolves.
   *
   * @param clientId inside the broker
   * @throws HoldLost if the connection is gone, and another one has the client
   * @throws ThingwireError of the store
   */
  async take(connection: Connection, clientId: string): Promise<TakenHold> {
    this.#underWay++
    try {
      const hold = await this.#takeFor(connection, clientHold(clientId))
      this.#connections.set(hold.holder, connection)
      if (this.#lost.has(hold.holder)) this.#close(connection, hold.name)
      return hold
    } finally {
      if (--this.#underWay === 0) this.#lost.clear()
    }
  }

  /** For one that is gone, and has published before, nobody is to be replaced. */
  async #takeFor(connection: Connection, name: string): Promise<TakenHold> {
    if (!connection.socket.destroyed) return await this.#holds.take(name)
    const hold = await this.#holds.takeFrom(name, undefined)
    if (!hold) throw new HoldLost({ name, holder: '' })
    return hold
  }

  /** Whether the CONNECT of the connection that has taken it here was refused. */
  isRefused(holder: string): boolean {
    return this.#connections.get(holder)?.refusal !== undefined
  }

  /** The connection is gone, and everything that it had under way is done. @throws ThingwireError of the store */
  async release(hold: Hold): Promise<void> {
    this.#connections.delete(hold.holder)
    await this.#holds.release(hold)
  }

  close(): void {
    this.#stopListening()
  }

  #close(connection: Connection, name: string): void {
    connection.isDismissed = true
    this.#onReplaced(connection, name)
    connection.close(new Error('the client has connected again'))
  }
}
