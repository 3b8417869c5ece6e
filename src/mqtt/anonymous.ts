import type { Admission } from './connect.ts'
import type { Connection } from './connection.ts'

/** How long a connection may do without a valid token, milliseconds (contract §7). */
const proofDeadline = 60_000

/**
 * Connections without a credential. Each is a scope of its own until it has used a token: from then on it stands for
 * that thing, and takes over from an older one with the same client id.
 */
export class Anonymous {
  /** By `ownerOf`. */
  readonly #proven = new Map<string, Connection>()
  readonly #deadlines = new Map<Connection, NodeJS.Timeout>()

  /** Who the connection stands for once it has used a token: the client of that id of that thing. */
  ownerOf({ clientId, givenClientId }: Admission, thingId: string): string {
    return givenClientId === '' ? clientId : `anonymous.${thingId}:${givenClientId}`
  }

  /** Ends the connection unless it proves to know a token. */
  expectProof(connection: Connection): void {
    const end = () => connection.close(new Error('no valid token came in time'))
    this.#deadlines.set(connection, setTimeout(end, proofDeadline).unref())
  }

  /**
   * The connection has used a valid token of this thing.
   *
   * @returns whose will does not apply any more; undefined if that was known
   */
  prove(connection: Connection, thingId: string): string | undefined {
    const { admission, provenThings } = connection
    // What was under way when it was closed must not close the one that took over from it.
    if (!admission || provenThings.has(thingId) || connection.client.conn.destroyed) return undefined
    this.#forgetDeadline(connection)
    const owner = this.ownerOf(admission, thingId)
    const other = this.#proven.get(owner)
    const takenOver = new Error('the same client has connected again')
    if (other && other.place > connection.place) {
      connection.close(takenOver)
      return undefined
    }
    provenThings.add(thingId)
    this.#proven.set(owner, connection)
    other?.close(takenOver)
    return owner
  }

  leave(connection: Connection): void {
    this.#forgetDeadline(connection)
    const { admission, provenThings } = connection
    if (!admission) return
    for (const thingId of provenThings) {
      const owner = this.ownerOf(admission, thingId)
      if (this.#proven.get(owner) === connection) this.#proven.delete(owner)
    }
  }

  #forgetDeadline(connection: Connection): void {
    clearTimeout(this.#deadlines.get(connection))
    this.#deadlines.delete(connection)
  }
}
