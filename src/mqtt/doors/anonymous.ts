import type { Admission } from '../connection/admission.ts'
import type { Connection } from '../connection/connection.ts'

/** How long a connection may do without a valid token, milliseconds (contract §7). */
const proofDeadline = 60_000

/** Takes the client over for the connection that has shown to be it. @throws ThingwireError of the store */
type TakeOver = (connection: Connection, clientId: string, thingId: string) => Promise<void>

/**
 * Connections without a credential. Each is a scope of its own until it has used a token: from then on it stands for
 * that thing, and takes over from an older one with the same client id.
 */
export class Anonymous {
  readonly #takeOver: TakeOver
  /** The newest of each that have used a token, by `ownerOf`. */
  readonly #proven = new Map<string, Connection>()
  /** By connection and thing id, while the client is taken over. */
  readonly #proving = new Map<Connection, Map<string, Promise<void>>>()
  readonly #deadlines = new Map<Connection, NodeJS.Timeout>()

  constructor(takeOver: TakeOver) {
    this.#takeOver = takeOver
  }

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
   * @returns resolves when it acts for its client; undefined: it does
   */
  prove(connection: Connection, admission: Admission, thingId: string): Promise<void> | undefined {
    if (connection.actsFor(thingId)) return undefined
    const proving = this.#proving.get(connection) ?? new Map<string, Promise<void>>()
    this.#proving.set(connection, proving)
    const underWay = proving.get(thingId)
    if (underWay) return underWay
    const beginning = this.#prove(connection, this.ownerOf(admission, thingId), thingId).finally(() => {
      proving.delete(thingId)
      if (proving.size === 0) this.#proving.delete(connection)
    })
    proving.set(thingId, beginning)
    return beginning
  }

  async #prove(connection: Connection, owner: string, thingId: string): Promise<void> {
    this.#forgetDeadline(connection)
    const other = this.#proven.get(owner)
    if (other && other.place > connection.place) {
      connection.isDismissed = true
      throw new Error('the same client has connected again')
    }
    if (!connection.socket.destroyed) this.#proven.set(owner, connection)
    await this.#takeOver(connection, owner, thingId)
  }

  leave(connection: Connection): void {
    this.#forgetDeadline(connection)
    const { admission, holdsOfThings } = connection
    if (!admission) return
    const things = [...(holdsOfThings?.keys() ?? []), ...(this.#proving.get(connection)?.keys() ?? [])]
    for (const thingId of things) {
      const owner = this.ownerOf(admission, thingId)
      if (this.#proven.get(owner) === connection) this.#proven.delete(owner)
    }
  }

  #forgetDeadline(connection: Connection): void {
    clearTimeout(this.#deadlines.get(connection))
    this.#deadlines.delete(connection)
  }
}
