import { listDocuments } from '../core/list-documents.ts'
import type { Nodes } from '../core/nodes.ts'
import type { Document, DocumentPut, DocumentStore, PutPurpose } from '../core/ports.ts'
import { maximumMissed } from './missed.ts'
import type { Session } from './session.ts'
import { inFlightPrefix, type SessionDocument, sessionName, sessionPrefix } from './session-documents.ts'

/** Between two looks, milliseconds, unless it is told before. */
const lookInterval = 200

/** A session of this node. */
export interface Usage {
  readonly session: Session
  readonly isInUse: boolean
}

interface SessionState {
  readonly session: Session
  readonly state: Omit<SessionDocument, 'lastConnected'>
  /** The same as JSON. */
  readonly text: string
}

/** The sessions as the store has them, for all nodes. */
export class StoredSessions {
  readonly #documents: DocumentStore
  readonly #nodes: Nodes
  /** By client id, whoever waits for a change of its session. */
  readonly #waiting = new Map<string, Set<() => void>>()
  /** What the store has of sessions of this node, as JSON. */
  readonly #kept = new WeakMap<Session, string>()
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
   * @param deadline on the clock of `performance.now()`, milliseconds
   * @throws ThingwireError of the store
   */
  async whenLeft(clientId: string, deadline: number): Promise<SessionDocument | undefined> {
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

  /** Puts sessions as they are now, and that they were connected now. @param others put with them */
  async keep(usages: readonly Usage[], others: DocumentPut = {}): Promise<void> {
    await this.#put(
      usages.map(usage => this.#stateOf(usage)),
      others,
    )
  }

  /** Puts those that the store has otherwise. */
  async keepChanged(usages: readonly Usage[]): Promise<void> {
    const states = usages.map(usage => this.#stateOf(usage))
    await this.#put(
      states.filter(({ session, text }) => this.#kept.get(session) !== text),
      {},
      'upkeep',
    )
  }

  async #put(states: readonly SessionState[], others: DocumentPut = {}, purpose?: PutPurpose): Promise<void> {
    const lastConnected = Date.now()
    const put: Record<string, Document | null> = { ...others }
    for (const { session, state } of states) {
      const document: SessionDocument = { ...state, lastConnected }
      put[sessionName(session.clientId)] = document
    }
    if (Object.keys(put).length === 0) return
    try {
      await this.#documents.put(put, purpose)
      for (const { session, text } of states) this.#kept.set(session, text)
    } catch (error) {
      // It may be there all the same.
      for (const { session } of states) this.#kept.delete(session)
      throw error
    }
  }

  #stateOf({ session, isInUse }: Usage): SessionState {
    const { instance, interests, unacked, epoch, maybeSent } = session
    const newest = unacked.newest(maximumMissed.messages)
    const state = {
      instance,
      node: this.#nodes.self,
      epoch,
      subscriptions: [...interests],
      ...newest,
      ...(maybeSent > newest.acked.writeNumber && { maybeSent }),
      isInUse,
    }
    return { session, state, text: JSON.stringify(state) }
  }

  /** Names of what is left of QoS 2 packets of the client's sessions, by what follows `inFlightPrefix`. */
  async inFlight(clientId: string): Promise<readonly string[]> {
    const names: string[] = []
    for await (const [rest] of listDocuments(this.#documents, inFlightPrefix(clientId))) names.push(rest)
    return names
  }

  /** Removes whatever there is of the client's sessions. @throws ThingwireError of the store */
  async forget(clientId: string): Promise<void> {
    await this.#documents.put(await this.#removalOf(clientId))
  }

  async #removalOf(clientId: string): Promise<DocumentPut> {
    const removal: Record<string, null> = { [sessionName(clientId)]: null }
    for (const rest of await this.inFlight(clientId)) removal[`${inFlightPrefix(clientId)}${rest}`] = null
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
