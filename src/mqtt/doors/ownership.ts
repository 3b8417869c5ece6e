import type { Hold, TakenHold } from '../../core/holds.ts'
import type { Connection } from '../connection/connection.ts'
import type { StoreRetries } from '../sessions/store-retries.ts'
import type { Wills } from '../wills/wills.ts'
import { Anonymous } from './anonymous.ts'
import type { ClientHolds } from './client-holds.ts'

export interface OwnershipParts {
  readonly holds: ClientHolds
  readonly wills: Wills
  readonly retries: StoreRetries
  /** Told of what could not be done in the end. */
  readonly onFailed: (error: unknown) => void
}

/** For which clients connections act: from CONNECT on, or from the first token on that an anonymous one has used. */
export class Ownership {
  readonly anonymous: Anonymous
  readonly #parts: OwnershipParts

  constructor(parts: OwnershipParts) {
    this.#parts = parts
    this.anonymous = new Anonymous(async (connection, clientId, thingId) => {
      const hold = await this.takeOver(connection, clientId)
      connection.holdsOfThings ??= new Map()
      connection.holdsOfThings.set(thingId, hold)
      if (connection.isLeft) this.#release(hold)
    })
  }

  /**
   * From when this resolves on the connection acts for the client, and the will of the one before it is dealt with.
   *
   * @throws HoldLost @throws ThingwireError of the store
   */
  async takeOver(connection: Connection, clientId: string): Promise<TakenHold> {
    const hold = await this.#parts.holds.take(connection, clientId)
    try {
      await this.#parts.wills.takeOver(clientId, hold, hold.before)
      return hold
    } catch (error) {
      this.#release(hold)
      throw error
    }
  }

  /** A client has shown that it may act for a thing. @throws ThingwireError of the store */
  readonly prove = (connection: Connection, thingId: string): Promise<void> | undefined => {
    const { admission } = connection
    if (admission?.kind !== 'anonymous') return undefined
    return this.anonymous.prove(connection, admission, thingId)
  }

  /** The connection is gone, and nothing of it is under way any more. */
  leave({ hold, holdsOfThings }: Connection): void {
    for (const each of holdsOfThings?.values() ?? []) this.#release(each)
    if (hold) this.#release(hold)
  }

  /** What the store fails, ends with the node. */
  #release(hold: Hold): void {
    const { retries, holds, onFailed } = this.#parts
    retries.run(() => holds.release(hold)).catch(onFailed)
  }
}
