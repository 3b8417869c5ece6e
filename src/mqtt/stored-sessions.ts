import { listDocuments } from '../core/list-documents.ts'
import type { Nodes } from '../core/nodes.ts'
import type { Document, DocumentPut, DocumentStore } from '../core/ports.ts'
import { inFlightPrefix, type SessionDocument, sessionName, sessionPrefix } from './session-documents.ts'

/** How long a node waits for another one to leave a session, milliseconds: less than a CONNECT may take. */
const longestWait = 3_000
/** Between two looks, milliseconds, unless it is told before. */
const lookInterval = 200

/** The sessions as the store has them, for all nodes. */
export class StoredSessions {
  readonly #documents: DocumentStore
  readonly #nodes: Nodes
  /** By client id, whoever waits for a change of its session. */
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #stopListening: () => void

  /** @param onChanged another node has changed the session of this client; undefined: of any, perhaps */
  constructor(documents: DocumentStore, nodes: Nodes, onChanged: (clientId: string | undefined) => void) {
    this.#documents = documents
    this.#nodes = nodes
    this.#stopListening = nodes.onDocuments(names => {
      if (!names) onChanged(undefined)
      for (const name of names ?? []) {
        if (!name.startsWith(sessionPrefix)) continue
        const clientId = decodeURIComponent(name.slice(sessionPrefix.length))
        for (const resolve of this.#waiting.get(clientId) ?? []) resolve()
        onChanged(clientId)
      }
    })
  }

  close(): void {
    this.#stopListening()
  }

  /** @throws ThingwireError of the store */
  async read(clientId: string): Promise<SessionDocument | undefined> {
    return (await this.#documents.get(sessionName(clientId))) as SessionDocument | undefined
  }

  /**
   * The session when no other node has it in use any more. One that does not leave it in time may be dead, though that
   * is not known yet: what it has kept of the session is all that will be known of it.
   *
   * @throws ThingwireError of the store
   */
  async whenLeft(clientId: string): Promise<SessionDocument | undefined> {
    const deadline = performance.now() + longestWait
    for (;;) {
      const stored = await this.read(clientId)
      if (!(await this.#isInUseElsewhere(stored)) || performance.now() > deadline) return stored
      await this.#untilChanged(clientId)
    }
  }

  async #isInUseElsewhere(stored: SessionDocument | undefined): Promise<boolean> {
    const { isAlone, self } = this.#nodes
    if (isAlone || !stored?.isInUse || stored.node === undefined || stored.node === self) return false
    return (await this.#nodes.alive()).has(stored.node)
  }

  #untilChanged(clientId: string): Promise<void> {
    return new Promise(resolve => {
      const waiting = this.#waiting.get(clientId) ?? new Set()
      const done = () => {
        clearTimeout(timer)
        waiting.delete(done)
        if (waiting.size === 0) this.#waiting.delete(clientId)
        resolve()
      }
      const timer = setTimeout(done, lookInterval)
      this.#waiting.set(clientId, waiting.add(done))
    })
  }

  async put(documents: DocumentPut): Promise<void> {
    if (Object.keys(documents).length > 0) await this.#documents.put(documents)
  }

  /** Names of what is left of QoS 2 packets of the client's sessions, by what follows `inFlightPrefix`. */
  async *inFlight(clientId: string): AsyncGenerator<string> {
    for await (const [rest] of listDocuments(this.#documents, inFlightPrefix(clientId))) yield rest
  }

  /** Removes whatever there is of the client's sessions. @throws ThingwireError of the store */
  async forget(clientId: string): Promise<void> {
    await this.#documents.put(await this.#removalOf(clientId))
  }

  async #removalOf(clientId: string): Promise<DocumentPut> {
    const removal: Record<string, null> = { [sessionName(clientId)]: null }
    for await (const rest of this.inFlight(clientId)) removal[`${inFlightPrefix(clientId)}${rest}`] = null
    return removal
  }

  /** The client ids of the sessions of a scope, such as `thing.<id>:`. @throws ThingwireError of the store */
  async *clientIdsIn(scope: string): AsyncGenerator<string> {
    for await (const [rest] of listDocuments(this.#documents, sessionName(scope))) {
      yield scope + decodeURIComponent(rest)
    }
  }

  /**
   * Forgets the sessions that were last connected before, milliseconds, unless their clients come back in between.
   *
   * @param mayForget whether it is not in use here
   * @returns the client ids
   * @throws ThingwireError of the store
   */
  async *forgetOlder(before: number, mayForget: (clientId: string) => boolean): AsyncGenerator<string> {
    const isOld = (session: Document | undefined) =>
      session !== undefined && (session as SessionDocument).lastConnected < before
    for await (const [rest, session] of listDocuments(this.#documents, sessionPrefix)) {
      const clientId = decodeURIComponent(rest)
      if (!isOld(session) || !mayForget(clientId)) continue
      const removal = await this.#removalOf(clientId)
      const isForgotten = await this.#documents.transact([sessionName(clientId)], ([stored]) => ({
        put: isOld(stored) ? removal : {},
        result: isOld(stored),
      }))
      if (isForgotten) yield clientId
    }
  }
}
