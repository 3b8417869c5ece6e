import { randomUUID } from 'node:crypto'
import { listDocuments } from '../core/list-documents.ts'
import type { Document, DocumentPut, DocumentStore } from '../core/ports.ts'
import type { Live } from '../live/index.ts'
import { Interests, type Subscription } from './interest.ts'
import type { LiveClient } from './live-client.ts'
import { maximumMissed } from './missed.ts'
import { inFlightPrefix, type SessionDocument, sessionName, sessionPrefix } from './session-documents.ts'
import type { SessionLog } from './session-log.ts'
import { Unacked } from './unacked.ts'

/** How long a persistent session is kept after it was last connected, milliseconds (contract §7). */
const sessionLifetime = 7 * 24 * 3_600_000
const sweepInterval = 3_600_000
/** How often it is kept how far connected sessions have acknowledged, milliseconds. */
const saveInterval = 1_000

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
  /** What it is subscribed to. */
  readonly interests: Interests
  /** What it was sent at QoS 1. */
  readonly unacked: Unacked
  /** Who gets its messages. */
  receiver: LiveClient | undefined
  /** Write number: what was committed up to here may have been sent before, under a packet id that is lost. */
  readonly maybeSent: number
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
  /** Resolves when it is read, and kept as one in use. */
  ready: Promise<void>
  /** Until then the store knows more of it than we do. */
  isReady: boolean
  /** Connections that use it: two for a moment when one takes over, none while the last one is being left. */
  users: number
  /** How many there have been. */
  visits: number
}

/** The sessions of clients that are connected, and in the store those of the ones that may come back. */
export class Sessions {
  readonly #documents: DocumentStore
  readonly #live: Live
  readonly #log: SessionLog
  /** Sessions in use, by client id. */
  readonly #open = new Map<string, OpenSession>()
  /** What the store has of those sessions, as JSON. */
  readonly #kept = new WeakMap<Session, string>()
  /** Number of the newest write of the process before. */
  readonly #begin: number
  readonly #timers: readonly NodeJS.Timeout[]

  /** @param log covers the sessions in the store */
  constructor(documents: DocumentStore, live: Live, log: SessionLog) {
    this.#documents = documents
    this.#live = live
    this.#begin = live.position
    this.#log = log
    this.#timers = [
      setInterval(() => void this.sweep().catch(() => {}), sweepInterval).unref(),
      setInterval(() => void this.#saveAcked().catch(() => {}), saveInterval).unref(),
    ]
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer)
  }

  /** A session that ends with its connection, of a client id under which nothing is kept. */
  beginNew(clientId: string): Session {
    const session = this.#newSession(clientId, false)
    this.#open.set(clientId, { session, ready: Promise.resolve(), isReady: true, users: 1, visits: 1 })
    return session
  }

  /** A session that ends with its connection; whatever was kept under the client id is dropped (MQTT-3.1.2-6). */
  async begin(clientId: string): Promise<Session> {
    const isKept = this.#open.get(clientId)?.session.isPersistent === true
    // First: whatever would still keep the session before it finds that its place is taken.
    const session = this.beginNew(clientId)
    try {
      if (isKept || (await this.#documents.get(sessionName(clientId)))) await this.#forget(clientId)
    } catch (error) {
      await this.leave(session)
      throw error
    }
    return session
  }

  /** The session of a client that wants to find it again when it comes back, durable when this resolves. */
  async resume(clientId: string): Promise<Session> {
    const present = this.#open.get(clientId)
    const open = present?.session.isPersistent ? present : this.#read(clientId)
    open.users++
    open.visits++
    // It was just being left, and is kept as one that nobody uses.
    if (open === present && open.users === 1) open.ready = this.save(open.session)
    try {
      await open.ready
      open.isReady = true
    } catch (error) {
      // It is not kept, so that nobody may find it.
      if (--open.users === 0 && this.#open.get(clientId) === open) this.#open.delete(clientId)
      throw error
    }
    return open === present ? Object.assign(open.session, { wasPresent: true }) : open.session
  }

  #read(clientId: string): OpenSession {
    const session = this.#newSession(clientId, true)
    const open = { session, ready: this.#load(session), isReady: false, users: 0, visits: 0 }
    this.#open.set(clientId, open)
    return open
  }

  async #load(session: Session): Promise<void> {
    const { clientId, inFlight } = session
    const stored = (await this.#documents.get(sessionName(clientId))) as SessionDocument | undefined
    if (stored) {
      const { acked, sent, subscriptions, isInUse } = stored
      Object.assign(session, {
        unacked: new Unacked(acked, sent),
        interests: new Interests(subscriptions),
        maybeSent: isInUse ? this.#begin : 0,
      })
    }
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
    const visit = open.visits
    const isLeft = () => {
      return open.users === 0 && open.visits === visit && this.#open.get(session.clientId) === open
    }
    // A client that is back before its last writes are committed must find their packet ids.
    await Promise.allSettled(session.inFlight.values())
    if (!isLeft()) return
    await this.save(session)
    // Whoever came and went meanwhile has its own save under way: until then the store has less than is known here.
    if (isLeft()) this.#open.delete(session.clientId)
  }

  /** Of a client that is connected. */
  find(clientId: string): Session | undefined {
    return this.#open.get(clientId)?.session
  }

  /** To be called before subscriptions are added: the commit log has what they may miss from here on. */
  cover({ clientId, isPersistent, interests }: Session, added: Iterable<Omit<Subscription, 'from'>>): void {
    if (isPersistent) this.#log.cover(clientId, [...interests, ...added])
  }

  /** Keeps the session as it is, and that it was in use now. @param others put with it */
  async save(session: Session, others: DocumentPut = {}): Promise<void> {
    const { clientId, isPersistent, interests } = session
    // One that another has taken the place of is not to come back.
    if (!isPersistent || this.find(clientId) !== session) return
    this.#log.cover(clientId, interests)
    await this.#documents.put({ ...others, ...this.#changed(session, Date.now()) })
  }

  /** Keeps how far the sessions in use have acknowledged, so that a crash has little sent again. */
  async #saveAcked(): Promise<void> {
    const put: Record<string, Document> = {}
    for (const { session, isReady } of this.#open.values()) {
      if (!session.isPersistent || !isReady) continue
      Object.assign(put, this.#changed(session))
    }
    if (Object.keys(put).length > 0) await this.#documents.put(put)
  }

  /** The session's document, if the store has it otherwise. @param lastConnected milliseconds; absent: as it was */
  #changed(session: Session, lastConnected?: number): DocumentPut {
    const { clientId, instance, interests, unacked } = session
    const state = {
      instance,
      subscriptions: [...interests],
      ...unacked.newest(maximumMissed.messages),
      isInUse: (this.#open.get(clientId)?.users ?? 0) > 0,
    }
    const text = JSON.stringify(state)
    if (lastConnected === undefined && this.#kept.get(session) === text) return {}
    this.#kept.set(session, text)
    const document: SessionDocument = { ...state, lastConnected: lastConnected ?? Date.now() }
    return { [sessionName(clientId)]: document }
  }

  /** Keeps the sessions that are in use, and gives up those that were not used for too long. */
  async sweep(): Promise<void> {
    for (const { session, isReady } of this.#open.values()) if (isReady) await this.save(session)
    const oldest = Date.now() - sessionLifetime
    for await (const [name, document] of listDocuments<SessionDocument>(this.#documents, sessionPrefix)) {
      const clientId = decodeURIComponent(name)
      if (document.lastConnected >= oldest || this.#open.has(clientId)) continue
      await this.#forget(clientId)
    }
  }

  /**
   * Ends every session of a principal that never comes back.
   *
   * @param principal as `principalName` has it
   * @throws ThingwireError of the store
   */
  async end(principal: string): Promise<void> {
    const scope = `${principal}:`
    const open = [...this.#open.values()].filter(({ session }) => session.clientId.startsWith(scope))
    for (const { session } of open) this.#open.delete(session.clientId)
    // What is being committed keeps its packet id with it.
    await Promise.allSettled(open.flatMap(({ session }) => [...session.inFlight.values()]))
    const clientIds = new Set(open.map(({ session }) => session.clientId))
    for await (const [rest] of listDocuments(this.#documents, sessionName(scope))) {
      clientIds.add(scope + decodeURIComponent(rest))
    }
    for (const clientId of clientIds) await this.#forget(clientId)
  }

  async #forget(clientId: string): Promise<void> {
    const removal: Record<string, Document | null> = { [sessionName(clientId)]: null }
    for await (const [name] of listDocuments(this.#documents, inFlightPrefix(clientId))) {
      removal[`${inFlightPrefix(clientId)}${name}`] = null
    }
    await this.#documents.put(removal)
    this.#log.cover(clientId, [])
  }

  #newSession(clientId: string, isPersistent: boolean): Session {
    return {
      clientId,
      instance: randomUUID(),
      isPersistent,
      wasPresent: false,
      inFlight: new Map(),
      releasing: new Map(),
      interests: new Interests(),
      unacked: new Unacked({ writeNumber: this.#live.position, place: Number.MAX_SAFE_INTEGER }),
      receiver: undefined,
      maybeSent: 0,
    }
  }
}
