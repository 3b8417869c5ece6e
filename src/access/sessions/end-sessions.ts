import type { Document, DocumentStore } from '../../core/ports.ts'
import {
  type AccessSessionDocument,
  type AccessSessionEntry,
  accessSessionName,
  type ThingDocument,
  thingName,
  tokenName,
} from '../documents.ts'

/** Removes sessions from the store in one commit. @returns the sessions that existed, each with the hash of its token */
export async function endSessions(
  documents: DocumentStore,
  sessionIds: readonly string[],
): Promise<readonly { readonly sessionId: string; readonly hash: string }[]> {
  const names = sessionIds.map(accessSessionName)
  const known = await Promise.all(names.map(name => documents.get(name)))
  // The things can be read before the transaction, since the thing that a session was minted for never changes.
  const thingIds = [
    ...new Set(known.flatMap(session => (session as AccessSessionDocument | undefined)?.thingId ?? [])),
  ]
  const isOver = new Set(sessionIds)
  return await documents.transact([...names, ...thingIds.map(thingName)], found => {
    const put: Record<string, Document | null> = {}
    const sessions = sessionIds.flatMap((sessionId, index) => {
      const session = found[index] as AccessSessionDocument | undefined
      return session ? [{ sessionId, hash: session.hash }] : []
    })
    for (const [index, thingId] of thingIds.entries()) {
      const thing = found[names.length + index] as ThingDocument | undefined
      const left = thing?.sessions?.filter(({ sessionId }) => !isOver.has(sessionId))
      if (left) put[thingName(thingId)] = { ...thing, sessions: left }
    }
    return { put: { ...put, ...endOf(sessions) }, result: sessions, purpose: 'essential' }
  })
}

/** The puts that remove the documents of sessions and their tokens, but not the entries for the sessions in thing documents. */
export function endOf(
  sessions: readonly Pick<AccessSessionEntry, 'sessionId' | 'hash'>[],
): Record<string, null> {
  const names = sessions.flatMap(({ sessionId, hash }) => [accessSessionName(sessionId), tokenName(hash)])
  return Object.fromEntries(names.map(name => [name, null]))
}
