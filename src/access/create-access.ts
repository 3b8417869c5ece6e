import type { Nodes } from '../core/nodes.ts'
import type { DocumentStore, RecordStore } from '../core/ports.ts'
import { Redactor } from '../core/refusals/redactor.ts'
import type { Access, AccessSessionRegistry, ActivationCodes, Revocation, ThingRegistry } from './access.ts'
import { assertAdminKey } from './admin-key.ts'
import { createAuthorisation } from './authorise.ts'
import { grantsWithin } from './grants.ts'
import { type Ended, revocationOf } from './revocation/ended.ts'
import { announcing, EndedElsewhere, NodeAbsence } from './revocation/ended-elsewhere.ts'
import { SessionExpiry } from './sessions/session-expiry.ts'
import { createAccessSessionRegistry } from './sessions/session-registry.ts'
import { createActivationCodes } from './things/activation-codes.ts'
import { LastSeen } from './things/last-seen.ts'
import { RemovedThings } from './things/removed-things.ts'
import { createThingList } from './things/thing-list.ts'
import { createRegistry } from './things/thing-registry.ts'
import { Tokens } from './tokens.ts'

export interface AccessParts {
  readonly documents: DocumentStore
  readonly records: RecordStore
  readonly nodes: Nodes
  /** The admin key, at least 32 characters. */
  readonly adminKey: string
  /** Whether a thing may delete its own records with its token. */
  readonly allowThingDelete: boolean
  /** The server's `topics` option. Default: none. */
  readonly topics?: readonly string[]
}

export interface AccessServices {
  readonly access: Access
  readonly registry: ThingRegistry
  readonly sessions: AccessSessionRegistry
  readonly activationCodes: ActivationCodes
  /** Stores the latest times of `LastSeen` now, instead of within the next minute. Never rejects. */
  keepTimes(): Promise<void>
  /** Stores the data that are only in memory. Call this before the store is closed. */
  close(): Promise<void>
}

/**
 * Creates the access services on a store, and resumes interrupted removals of things.
 *
 * @throws Error with a message for the operator if the admin key is too short or has a forbidden character
 */
export async function createAccess(parts: AccessParts): Promise<AccessServices> {
  const { records, nodes, adminKey, allowThingDelete, topics = [] } = parts
  assertAdminKey(adminKey, 'the admin key')
  const documents = announcing(parts.documents, names => elsewhere.look(names))
  const lastSeen = new LastSeen(documents)
  const stopNoting = records.onCommit(commit => {
    const isOwnWrite = commit.stored && !commit.isElsewhere && commit.records.length > 0
    if (isOwnWrite) lastSeen.noteWrite(commit.thingId, commit.receivedAt)
  })
  const listeners = new Set<(revocation: Revocation) => void>()
  const announce = (revocation: Revocation) => {
    for (const listener of listeners) listener(revocation)
  }
  const redactor = new Redactor(adminKey)
  const assertGrants = grantsWithin(topics, redactor)
  const tokens = new Tokens(documents, lastSeen, (hash, session) => expiry.watch(hash, session))
  const authorisation = createAuthorisation({ documents, tokens, adminKey, allowThingDelete, topics })
  const topicListeners = new Set<(thingId: string) => void>()
  const onTopics = (thingId: string) => {
    for (const listener of topicListeners) listener(thingId)
  }
  const forget = ({ tokens: hashes = [], things = [] }: Ended) => {
    for (const hash of hashes) tokens.forget(hash)
    for (const thingId of things) authorisation.forgetThing(thingId)
  }
  const onEnd = (ended: Ended) => {
    forget(ended)
    for (const hash of ended.tokens ?? []) expiry.forget(hash)
    for (const thingId of ended.things ?? []) lastSeen.forget(thingId)
    if (ended.things?.length) removed.wake()
    announce(revocationOf(ended))
  }
  const expiry = new SessionExpiry(documents, onEnd)
  const onChange = (changed: Ended) => {
    forget(changed)
    for (const thingId of changed.things ?? []) onTopics(thingId)
  }
  const elsewhere = new EndedElsewhere({ documents: parts.documents, onChange, onEnd })
  const removed = new RemovedThings(documents, records, nodes)
  const forgetAll = () => {
    tokens.forgetAll()
    authorisation.forgetThings()
    removed.wake()
  }
  const doubtAll = () => {
    forgetAll()
    announce({ hashes: new Set(), principals: new Set(), all: true })
  }
  const absence = nodes.isAlone ? undefined : new NodeAbsence(nodes, forgetAll, doubtAll)
  const stopListening = nodes.onDocuments(names => (names ? elsewhere.look(names) : doubtAll()))
  const list = createThingList(documents, records, lastSeen)
  return {
    access: {
      ...authorisation,
      redactor,
      noteSeen: thingId => lastSeen.note(thingId),
      onRevoke: listener => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
      onTopics: listener => {
        topicListeners.add(listener)
        return () => topicListeners.delete(listener)
      },
    },
    registry: createRegistry({ documents, list, assertGrants, onEnd, onTopics }),
    sessions: createAccessSessionRegistry({
      documents,
      assertGrants,
      identify: authorisation.identify,
      onEnd,
    }),
    activationCodes: createActivationCodes(documents),
    keepTimes: () => lastSeen.keep(),
    close: async () => {
      stopListening()
      stopNoting()
      absence?.close()
      elsewhere.close()
      expiry.close()
      await Promise.all([lastSeen.close(), removed.close()])
    },
  }
}
