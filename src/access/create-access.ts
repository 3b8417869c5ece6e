import { retryUntil } from '../core/async/retry-until.ts'
import type { Nodes } from '../core/nodes.ts'
import type { DocumentStore, RecordStore } from '../core/ports.ts'
import { Redactor } from '../core/refusals/redactor.ts'
import type {
  Access,
  AccessSessionRegistry,
  ActivationCodes,
  Revocation,
  SourceRegistry,
  SourceRules,
  SourceThings,
  ThingRegistry,
} from './access.ts'
import { assertAdminKey } from './admin-key.ts'
import { createAuthorisation } from './authorise.ts'
import { grantsWithin } from './grants.ts'
import { type Ended, revocationOf } from './revocation/ended.ts'
import { announcing, EndedElsewhere, NodeAbsence } from './revocation/ended-elsewhere.ts'
import { SessionExpiry } from './sessions/session-expiry.ts'
import { createAccessSessionRegistry } from './sessions/session-registry.ts'
import { KnownSources } from './sources/known-sources.ts'
import { createSourceRegistry } from './sources/source-registry.ts'
import { DeviceThings } from './sources/source-things.ts'
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
  /** What the formats say of sources. */
  readonly rules: SourceRules
}

export interface AccessServices {
  readonly access: Access
  readonly registry: ThingRegistry
  readonly sessions: AccessSessionRegistry
  readonly sources: SourceRegistry
  readonly sourceThings: SourceThings
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
  const known = new KnownSources(parts.documents)
  await known.load()
  const deviceThings = new DeviceThings(documents, known, nodes.isAlone ? undefined : nodes.self)
  const served = () => [...topics, ...known.topics]
  const assertGrants = grantsWithin(served, redactor)
  const tokens = new Tokens(documents, lastSeen, (hash, session) => expiry.watch(hash, session))
  const authorisation = createAuthorisation({ documents, tokens, adminKey, allowThingDelete, served })
  const topicListeners = new Set<(thingId: string | undefined) => void>()
  const onTopics = (thingId?: string) => {
    for (const listener of topicListeners) listener(thingId)
  }
  const forget = ({ tokens: hashes = [], things = [], devices = [] }: Ended) => {
    for (const hash of hashes) tokens.forget(hash)
    for (const thingId of things) authorisation.forgetThing(thingId)
    for (const device of devices) deviceThings.forget(device)
  }
  const onEnd = (ended: Ended) => {
    const { tokens: hashes = [], things = [], sources = [] } = ended
    forget(ended)
    for (const hash of hashes) expiry.forget(hash)
    for (const thingId of things) lastSeen.forget(thingId)
    for (const sourceId of sources) known.forget(sourceId)
    if (things.length + sources.length > 0) removed.wake()
    announce(revocationOf(ended))
    if (sources.length > 0) onTopics()
  }
  const onSourceChange = (sourceId: string) => {
    const source = known.get(sourceId)
    if (source) tokens.forget(source.hash)
    const ended = { sources: [sourceId], tokens: source ? [source.hash] : [] }
    announce({ ...revocationOf(ended), isChange: true })
    onTopics()
  }
  /** Another node has made, changed or removed these sources; `elsewhere` ends those that were removed. */
  const lookAtSources = async (sources: readonly string[]) => {
    await retryUntil(() => Promise.all(sources.map(sourceId => known.look(sourceId))), { every: 500, stop })
    for (const sourceId of sources) onSourceChange(sourceId)
  }
  const expiry = new SessionExpiry(documents, onEnd)
  const onChange = (changed: Ended) => {
    forget(changed)
    if (changed.sources?.length) void lookAtSources(changed.sources)
    for (const thingId of changed.things ?? []) onTopics(thingId)
  }
  const elsewhere = new EndedElsewhere({ documents: parts.documents, onChange, onEnd })
  const removed = new RemovedThings(documents, records, nodes)
  const forgetAll = () => {
    tokens.forgetAll()
    authorisation.forgetThings()
    deviceThings.forgetAll()
    void retryUntil(() => known.load(), { every: 500, stop }).then(() => onTopics())
    removed.wake()
  }
  const doubtAll = () => {
    forgetAll()
    announce({ hashes: new Set(), principals: new Set(), all: true })
  }
  const stopping = new AbortController()
  const stop = stopping.signal
  const absence = nodes.isAlone ? undefined : new NodeAbsence(nodes, forgetAll, doubtAll)
  const stopListening = nodes.onDocuments(names => {
    if (names) elsewhere.look(names)
    else doubtAll()
  })
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
    sources: createSourceRegistry({
      documents,
      known,
      rules: parts.rules,
      redactor,
      onEnd,
      onChange: onSourceChange,
    }),
    sourceThings: deviceThings,
    activationCodes: createActivationCodes(documents),
    keepTimes: () => lastSeen.keep(),
    close: async () => {
      stopListening()
      stopNoting()
      absence?.close()
      elsewhere.close()
      stopping.abort()
      expiry.close()
      await Promise.all([lastSeen.close(), removed.close()])
    },
  }
}
