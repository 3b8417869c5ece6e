import { randomUUID } from 'node:crypto'
import { listDocuments } from '../core/list-documents.ts'
import type { Document, DocumentPut, DocumentStore } from '../core/ports.ts'
import type { StoredSubscription } from './aedes-seams.ts'

/** How long a persistent session is kept after it was last connected, milliseconds (contract §7). */
const sessionLifetime = 7 * 24 * 3_600_000
const sweepInterval = 3_600_000

/** `mqtt-sessions/<client id>` */
type SessionDocument = {
  /** Tells it from an earlier session of the client: what is left of that must not be taken for this one's. */
  readonly instance: string
  /** Milliseconds; written at CONNECT, when the connection ends, and every hour in between. */
  readonly lastConnected: number
  readonly subscriptions: readonly StoredSubscription[]
}

const sessionPrefix = 'mqtt-sessions/'
// A client id may hold any character, and one may begin like another.
const sessionName = (clientId: string) => `${sessionPrefix}${encodeURIComponent(clientId)}`
/** Followed by the session's instance, a slash, and the packet id. */
const inFlightPrefix = (clientId: string) => `mqtt-in-flight/${encodeURIComponent(clientId)}/`

/** What the server remembers of one client (MQTT-3.1.2.4): subscriptions, and QoS 2 packets not yet released. */
export interface Session {
  readonly clientId: string
  readonly instance: string
  readonly isPersistent: boolean
  /** Whether there was one before this connection. */
  readonly wasPresent: boolean
  /** Packet id → settles when that packet's write is committed; there until PUBREL. */
  readonly inFlight: Map<number, Promise<unknown>>
  /** Packet id → settles when it is durably forgotten; there from PUBREL to PUBCOMP. */
  readonly releasing: Map<number, Promise<void>>
  /** By topic; with ids, never tokens. */
  readonly subscriptions: Map<string, StoredSubscription>
}

/** Name of the document that remembers a packet id over a crash; undefined where the session ends with the connection. */
export function inFlightName(
  { clientId, instance, isPersistent }: Session,
  messageId: number,
): string | undefined {
  return isPersistent ? `${inFlightPrefix(clientId)}${instance}/${messageId}` : undefined
}

interface OpenSession {
  readonly session: Session
  /** Resolves when it is read, and kept. */
  readonly ready: Promise<void>
  /** Connections that use it: two for a moment when one takes over, none while the last one is being left. */
  users: number
}

/** The sessions of clients that are connected, and in the store those of the ones that may come back. */
export class Sessions {
  readonly #documents: DocumentStore
  readonly #onExpired: (clientId: string) => void
  /** Sessions in use, by client id. */
  readonly #open = new Map<string, OpenSession>()
  readonly #sweep: NodeJS.Timeout

  /** @param onExpired called for a session that is given up because it was not used */
  constructor(documents: DocumentStore, onExpired: (clientId: string) => void) {
    this.#documents = documents
    this.#onExpired = onExpired
    this.#sweep = setInterval(() => void this.sweep().catch(() => {}), sweepInterval)
    this.#sweep.unref()
  }

  close(): void {
    clearInterval(this.#sweep)
  }

  /** A session that ends with its connection, of a client id under which nothing is kept. */
  beginNew(clientId: string): Session {
    const session = newSession(clientId, false)
    this.#open.set(clientId, { session, ready: Promise.resolve(), users: 1 })
    return session
  }

  /** A session that ends with its connection; whatever was kept under the client id is dropped (MQTT-3.1.2-6). */
  async begin(clientId: string): Promise<Session> {
    const stored = await this.#documents.get(sessionName(clientId))
    if (stored) await this.#forget(clientId)
    return this.beginNew(clientId)
  }

  /** The session of a client that wants to find it again when it comes back, durable when this resolves. */
  async resume(clientId: string): Promise<Session> {
    const present = this.#open.get(clientId)
    const open = present?.session.isPersistent ? present : this.#read(clientId)
    open.users++
    try {
      await open.ready
    } catch (error) {
      // It is not kept, so that nobody may find it.
      if (--open.users === 0 && this.#open.get(clientId) === open) this.#open.delete(clientId)
      throw error
    }
    return open === present ? Object.assign(open.session, { wasPresent: true }) : open.session
  }

  #read(clientId: string): OpenSession {
    const session = newSession(clientId, true)
    const open = { session, ready: this.#load(session), users: 0 }
    this.#open.set(clientId, open)
    return open
  }

  async #load(session: Session): Promise<void> {
    const { clientId, subscriptions, inFlight } = session
    const stored = (await this.#documents.get(sessionName(clientId))) as SessionDocument | undefined
    for (const subscription of stored?.subscriptions ?? [])
      subscriptions.set(subscription.topic, subscription)
    const instance = stored?.instance ?? session.instance
    const left: Record<string, null> = {}
    for await (const [name] of listDocuments(this.#documents, inFlightPrefix(clientId))) {
      const [itsInstance, messageId] = name.split('/')
      // A connection that was taken over may leave packet ids behind the session that was dropped: a new write must
      // not be taken for one of its.
      if (itsInstance === instance) inFlight.set(Number(messageId), Promise.resolve())
      else left[`${inFlightPrefix(clientId)}${name}`] = null
    }
    Object.assign(session, { instance, wasPresent: stored !== undefined })
    await this.save(session, left)
  }

  /** To be called once for each session that was given out, when its connection is gone. */
  async leave(session: Session): Promise<void> {
    const open = this.#open.get(session.clientId)
    if (open?.session !== session || --open.users > 0) return
    // A client that is back before its last writes are committed must find their packet ids.
    await Promise.allSettled(session.inFlight.values())
    if (!this.#isLeft(open)) return
    await this.save(session)
    if (this.#isLeft(open)) this.#open.delete(session.clientId)
  }

  #isLeft(open: OpenSession): boolean {
    return open.users === 0 && this.#open.get(open.session.clientId) === open
  }

  /** Of a client that is connected. */
  find(clientId: string): Session | undefined {
    return this.#open.get(clientId)?.session
  }

  /** Keeps the subscriptions, and that the session was in use now. @param others put with it */
  async save(session: Session, others: DocumentPut = {}): Promise<void> {
    const { clientId, instance, isPersistent, subscriptions } = session
    // One that another has taken the place of is not to come back.
    if (!isPersistent || this.find(clientId) !== session) return
    const document: SessionDocument = {
      instance,
      lastConnected: Date.now(),
      subscriptions: [...subscriptions.values()],
    }
    await this.#documents.put({ ...others, [sessionName(clientId)]: document })
  }

  /** Keeps the sessions that are in use, and gives up those that were not used for too long. */
  async sweep(): Promise<void> {
    for (const { session } of this.#open.values()) await this.save(session)
    const oldest = Date.now() - sessionLifetime
    for await (const [name, document] of listDocuments<SessionDocument>(this.#documents, sessionPrefix)) {
      const clientId = decodeURIComponent(name)
      if (document.lastConnected >= oldest || this.#open.has(clientId)) continue
      await this.#forget(clientId)
      this.#onExpired(clientId)
    }
  }

  async #forget(clientId: string): Promise<void> {
    const removal: Record<string, Document | null> = { [sessionName(clientId)]: null }
    for await (const [name] of listDocuments(this.#documents, inFlightPrefix(clientId))) {
      removal[`${inFlightPrefix(clientId)}${name}`] = null
    }
    await this.#documents.put(removal)
  }
}

function newSession(clientId: string, isPersistent: boolean): Session {
  return {
    clientId,
    instance: randomUUID(),
    isPersistent,
    wasPresent: false,
    inFlight: new Map(),
    releasing: new Map(),
    subscriptions: new Map(),
  }
}
