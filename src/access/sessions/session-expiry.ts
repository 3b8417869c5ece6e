import { listDocuments } from '../../core/list-documents.ts'
import type { DocumentStore } from '../../core/ports.ts'
import { type AccessSessionDocument, accessSessionPrefix } from '../documents.ts'
import { type Ended, endedWith } from '../revocation/ended.ts'
import { endSessions } from './end-sessions.ts'

/** How often watched sessions are checked, milliseconds: a session's connections must close within 1 s of its end (contract §6). */
const watchInterval = 250
/** How often the store is searched for sessions that end before the next search, milliseconds. */
const searchInterval = 60_000
/** Maximum number of sessions that one commit removes from the store. */
const sessionsPerCommit = 100

interface Session {
  readonly sessionId: string
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

export class SessionExpiry {
  readonly #documents: DocumentStore
  readonly #onEnd: (ended: Ended) => void
  /** Sessions that were used since the start or that end soon, by the hash of their token. */
  readonly #watched = new Map<string, Session>()
  readonly #timers: readonly NodeJS.Timeout[]

  constructor(documents: DocumentStore, onEnd: (ended: Ended) => void) {
    this.#documents = documents
    this.#onEnd = onEnd
    this.#timers = [
      setInterval(() => this.#endOverdue(), watchInterval).unref(),
      // If the store fails, the next search finds the sessions.
      setInterval(() => void this.#search().catch(() => {}), searchInterval).unref(),
    ]
  }

  /** Calls `onEnd` when the session ends. */
  watch(hash: string, { sessionId, expiresAt }: Session): void {
    this.#watched.set(hash, { sessionId, expiresAt })
  }

  forget(hash: string): void {
    this.#watched.delete(hash)
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer)
  }

  #endOverdue(): void {
    const now = Date.now()
    const sessions: { readonly sessionId: string; readonly hash: string }[] = []
    for (const [hash, { sessionId, expiresAt }] of this.#watched) {
      if (expiresAt > now) continue
      this.#watched.delete(hash)
      sessions.push({ sessionId, hash })
    }
    if (sessions.length === 0) return
    // Notify before the store is changed, since a change may be slow or fail. The search finds sessions that are left in the store.
    this.#onEnd(endedWith(sessions))
    for (let start = 0; start < sessions.length; start += sessionsPerCommit) {
      const ids = sessions.slice(start, start + sessionsPerCommit).map(({ sessionId }) => sessionId)
      endSessions(this.#documents, ids).catch(() => {})
    }
  }

  /** Also watches sessions that nobody has used since the start, so that their documents are removed when they end. */
  async #search(): Promise<void> {
    const until = Date.now() + searchInterval
    for await (const [sessionId, session] of listDocuments<AccessSessionDocument>(
      this.#documents,
      accessSessionPrefix,
    )) {
      const { hash, expiresAt } = session
      if (expiresAt <= until) this.watch(hash, { sessionId, expiresAt })
    }
  }
}
