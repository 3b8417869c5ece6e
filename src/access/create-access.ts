import type { DocumentStore, RecordStore } from '../core/ports.ts'
import type { Access, ActivationCodes, ThingRegistry } from './access.ts'
import { createActivationCodes } from './activation-codes.ts'
import { assertAdminKey } from './admin-key.ts'
import { createAuthorisation } from './authorise.ts'
import { LastSeen } from './last-seen.ts'
import { createRegistry } from './registry.ts'
import { Removals } from './removals.ts'
import { createThingList } from './thing-list.ts'
import { Tokens } from './tokens.ts'

export interface AccessParts {
  readonly documents: DocumentStore
  readonly records: RecordStore
  /** At least 32 characters. */
  readonly adminKey: string
  /** Whether a thing may delete its own records with its token. */
  readonly allowThingDelete: boolean
}

export interface AccessServices {
  readonly access: Access
  readonly registry: ThingRegistry
  readonly activationCodes: ActivationCodes
  /** Writes what is only in memory; to be called before the store is closed. */
  close(): Promise<void>
}

/**
 * Wires access onto a store, and goes on with removals that were interrupted.
 *
 * @throws Error with a message for the operator: the admin key is too short or has characters it cannot have
 */
export async function createAccess(parts: AccessParts): Promise<AccessServices> {
  const { documents, records, adminKey, allowThingDelete } = parts
  assertAdminKey(adminKey, 'the admin key')
  const removals = new Removals(documents, records)
  await removals.resume()
  const lastSeen = new LastSeen(documents)
  const tokens = new Tokens(documents, lastSeen)
  const access = createAuthorisation({ documents, tokens, adminKey, allowThingDelete })
  const onRevoke = (hashes: readonly string[]) => {
    for (const hash of hashes) tokens.forget(hash)
  }
  const onRemove = (thingId: string) => {
    access.forgetThing(thingId)
    lastSeen.forget(thingId)
    removals.start(thingId)
  }
  const list = createThingList({ documents, records, lastSeen })
  return {
    access,
    registry: createRegistry({ documents, list, onRevoke, onRemove }),
    activationCodes: createActivationCodes(documents),
    close: async () => {
      await Promise.all([lastSeen.close(), removals.close()])
    },
  }
}
