import type { Nodes } from '../core/nodes.ts'
import type { DocumentPut, DocumentStore } from '../core/ports.ts'
import type { Live } from '../live/index.ts'
import { ConnectRefused } from './connect.ts'
import type { Subscription } from './interest.ts'
import type { Claim } from './latest-connections.ts'
import { newSession, restoreSession, type Session, withdrawWaiting } from './session.ts'
import { inFlightPrefix, type SessionDocument } from './session-documents.ts'
import type { SessionLog } from './session-log.ts'
import type { StoreRetries } from './store-retries.ts'
import { StoredSessions, type Usage } from './stored-sessions.ts'

/** How long a persistent session is kept after it was last connected, milliseconds (contract §7). */
const sessionLifetime = 7 * 24 * 3_600_000
const sweepInterval = 3_600_000
/** How long a node waits for another one to leave a session, milliseconds: less than a CONNECT may take. */
const longestWait = 2_000
/** How often it is kept how far connected sessions have acknowledged, milliseconds. */
const saveInterval = 1_000

interface OpenSession {
  readonly session: Session
  /** Resolves when it is read, and kept as one in use. */
  ready: Promise<void>
  /** Until then the store knows more of it than we do. */
  isReady: boolean
  /** Another node has changed it in the store, and it has not been looked at since. */
  isDoubtful: boolean
  /** Of the connections that use it, and of some that have ended; none where there is one node. */
  claims: readonly Claim[]
  /** Connections that use it: two for a moment when one takes over, none while the last one is being left. */
  users: number
  /** How many there have been. */
  visits: number
}

/** A session that no other node has in use. */
interface LeftSession {
  /** Undefined: there is none. */
  readonly stored: SessionDocument | undefined
  /** As of `StoredSessions.inFlight`. */
  readonly inFlight: readonly string[]
  /** As of `Session`, if the other node had it still. */
  readonly settledAt: number
}

export interface SessionsParts {
  readonly documents: DocumentStore
  readonly nodes: Nodes
  /** Within what time a write that another node has begun to store is kept or not, milliseconds. */
  readonly storeTimeout: number
  readonly live: Live
  /** Covers the sessions in the store. */
  readonly log: SessionLog
  readonly retries: StoreRetries
  /** Another node has the session now: whoever is connected with it is to be closed. */
  readonly onLost: (session: Session) => void
}

/**
 * The sessions of clients that are connected, and in the store those of the ones that may come back.
 *
 * A session is one node's at a time: another one takes it when the first has kept it as not in use (`StoredSessions`).
 * A node that finds in the store that another one has taken it, for being late or held for dead, lets go of it.
 */
export class Sessions {
  readonly #parts: SessionsParts
  readonly #stored: StoredSessions
  /** Sessions in use, by client id. */
  readonly #open = new Map<string, OpenSession>()
  /** Number of the newest write of the process before. */
  readonly #begin: number
  readonly #timers: readonly NodeJS.Timeout[]
  #isSaving = false

  constructor(parts: SessionsParts) {
    this.#parts = parts
    this.#stored = new StoredSessions(parts.documents, parts.nodes, clientId => this.#onChanged(clientId))
    this.#begin = parts.live.position
    this.#timers = [
      setInterval(() => void this.sweep().catch(() => {}), sweepInterval).unref(),
      setInterval(() => void this.#saveAcked().catch(() => {}), saveInterval).unref(),
    ]
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer)
    this.#stored.close()
  }

  /** A session that ends with its connection, of a client id under which nothing is kept. */
  beginNew(clientId: string): Session {
    const session = this.#newSession(clientId, false)
    this.#open.set(clientId, { ...unusedSession(session), isReady: true, users: 1, visits: 1 })
    return session
  }

  /** A session that ends with its connection; whatever was kept under the client id is dropped (MQTT-3.1.2-6). */
  async begin(clientId: string): Promise<Session> {
    const isKept = this.#open.get(clientId)?.session.isPersistent === true
    // First: whatever would still keep the session before it finds that its place is taken.
    const session = this.beginNew(clientId)
    try {
      // A node that still has it would keep it again.
      if (isKept || (await this.#stored.whenLeft(clientId, performance.now() + longestWait)))
        await this.#forget(clientId)
    } catch (error) {
      await this.leave(session)
      throw error
    }
    return session
  }

  /**
   * The session of a client that wants to find it again when it comes back, durable when this resolves.
   *
   * @param claim of the connection that it is for
   * @throws ConnectRefused if the client has connected again
   * @throws ThingwireError of the store
   */
  async resume(claim: Claim): Promise<Session> {
    const { clientId } = claim
    await this.#lookAgain(clientId)
    const present = this.#open.get(clientId)
    const open = present?.session.isPersistent ? present : unusedSession(this.#newSession(clientId, true))
    this.#open.set(clientId, open)
    if (!this.#parts.nodes.isAlone) open.claims = [...open.claims.filter(({ isLatest }) => isLatest), claim]
    open.users++
    open.visits++
    if (open !== present) open.ready = this.#load(open)
    // It was just being left, and is kept as one that nobody uses.
    else if (open.users === 1) open.ready = this.save(open.session)
    try {
      await open.ready
      open.isReady = true
      // Whoever connects on another node from here on finds the session in use. One that has done so before may have
      // found it left.
      if (!(await claim.confirm())) throw connectedAgain()
      if (open.isDoubtful) await this.#check(open)
      if (this.find(clientId) !== open.session) throw connectedAgain()
    } catch (error) {
      // What is known of it here is to be kept, unless it was never read: then nobody may find it.
      if (open.isReady) this.leave(open.session).catch(() => {})
      else if (this.#open.get(clientId) === open) this.#open.delete(clientId)
      throw error
    }
    return open === present ? Object.assign(open.session, { wasPresent: true }) : open.session
  }

  async #load(open: OpenSession): Promise<void> {
    const { session } = open
    const { stored, inFlight, settledAt } = await this.#readLeft(open)
    if (stored) restoreSession(session, stored, { nodes: this.#parts.nodes, begin: this.#begin, settledAt })
    const instance = stored?.instance ?? session.instance
    const left: Record<string, null> = {}
    for (const name of inFlight) {
      const [itsInstance, messageId] = name.split('/')
      // A connection that was taken over may leave packet ids behind the session that was dropped: a new write must
      // not be taken for one of its.
      if (itsInstance === instance) session.inFlight.set(Number(messageId), Promise.resolve())
      else left[`${inFlightPrefix(session.clientId)}${name}`] = null
    }
    Object.assign(session, { instance, wasPresent: stored !== undefined })
    await this.save(session, left)
  }

  /**
   * The session as it was behind the claims of all that wait for it.
   *
   * @throws ConnectRefused if the client has connected again
   */
  async #readLeft(open: OpenSession): Promise<LeftSession> {
    const { clientId } = open.session
    const deadline = performance.now() + longestWait
    for (;;) {
      const { claims } = open
      const settledAt = performance.now() + this.#parts.storeTimeout
      const stored = await this.#stored.whenLeft(clientId, deadline)
      const inFlight = await this.#stored.inFlight(clientId)
      // As late as possible: what another node has begun with the session since it was read would be lost.
      if (!(await this.#isLatest(open))) throw connectedAgain()
      if (open.claims === claims) return { stored, inFlight, settledAt }
    }
  }

  /**
   * To be called once for each session that was given out, when its connection is gone. Resolves when that is kept.
   *
   * @throws ThingwireError of the store, if the service ends before
   */
  async leave(session: Session): Promise<void> {
    const open = this.#open.get(session.clientId)
    if (open?.session !== session || --open.users > 0) return
    withdrawWaiting(session)
    const visit = open.visits
    const isLeft = () => {
      return open.users === 0 && open.visits === visit && this.#open.get(session.clientId) === open
    }
    // A client that is back before its last writes are committed must find their packet ids.
    await Promise.allSettled(session.inFlight.values())
    // Another node waits for it.
    await this.#parts.retries.run(async () => {
      if (!isLeft()) return
      await this.#lookAgain(session.clientId)
      if (!isLeft()) return
      await this.save(session)
      // Whoever came and went meanwhile has its own save under way: until then the store has less than is known here.
      if (isLeft()) this.#open.delete(session.clientId)
    })
  }

  /** Of a client that is connected. */
  find(clientId: string): Session | undefined {
    return this.#open.get(clientId)?.session
  }

  /** To be called before subscriptions are added: the commit log has what they may miss from here on. */
  cover({ clientId, isPersistent, interests }: Session, added: Iterable<Omit<Subscription, 'from'>>): void {
    if (isPersistent) this.#parts.log.cover(clientId, [...interests, ...added])
  }

  /** Keeps the session as it is, and that it was in use now. @param others put with it */
  async save(session: Session, others: DocumentPut = {}): Promise<void> {
    const open = this.#open.get(session.clientId)
    if (open?.isReady && open.isDoubtful) await this.#check(open)
    // One that another has taken the place of is not to come back.
    if (!session.isPersistent || this.find(session.clientId) !== session) return
    await this.#put(session, others)
  }

  async #put(session: Session, others: DocumentPut = {}): Promise<void> {
    this.#parts.log.cover(session.clientId, session.interests)
    await this.#stored.keep([this.#usageOf(session)], others)
  }

  /** Keeps how far the sessions in use have acknowledged, so that a crash has little sent again. */
  async #saveAcked(): Promise<void> {
    if (this.#isSaving) return
    this.#isSaving = true
    const usages: Usage[] = []
    for (const open of this.#open.values()) {
      const { session, isReady, isDoubtful } = open
      if (!session.isPersistent || !isReady) continue
      if (isDoubtful) this.#check(open).catch(() => {})
      else usages.push(this.#usageOf(session))
    }
    await this.#stored.keepChanged(usages).finally(() => {
      this.#isSaving = false
    })
  }

  #usageOf(session: Session): Usage {
    return { session, isInUse: (this.#open.get(session.clientId)?.users ?? 0) > 0 }
  }

  #onChanged(clientId: string | undefined): void {
    const changed = clientId === undefined ? this.#open.values() : [this.#open.get(clientId)]
    for (const open of changed) {
      if (!open?.session.isPersistent) continue
      open.isDoubtful = true
      // One that cannot be looked at now, is before it is kept again.
      if (open.isReady) this.#check(open).catch(() => {})
    }
  }

  /** Another node may have taken the session, and this one not been told yet. */
  async #lookAgain(clientId: string): Promise<void> {
    const open = this.#open.get(clientId)
    if (!this.#parts.nodes.isAlone && open?.session.isPersistent && open.isReady) await this.#check(open)
  }

  /** Lets go of a session that is another node's now. @throws ThingwireError of the store */
  async #check(open: OpenSession): Promise<void> {
    const { session } = open
    const { clientId } = session
    open.isDoubtful = false
    let stored: SessionDocument | undefined
    let isOurs: boolean
    try {
      stored = await this.#stored.read(clientId)
      isOurs = await this.#isOurs(open, stored)
    } catch (error) {
      open.isDoubtful = true
      throw error
    }
    if (this.#open.get(clientId) !== open || stored?.node === this.#parts.nodes.self) return
    if (stored && isOurs) {
      session.epoch = Math.max(session.epoch, (stored.epoch ?? 0) + 1)
      return await this.#put(session)
    }
    this.#open.delete(clientId)
    withdrawWaiting(session)
    this.#parts.onLost(session)
  }

  /** @param stored by another node: it did not know yet that it had lost the session, or the client has come back here */
  async #isOurs(open: OpenSession, stored: SessionDocument | undefined): Promise<boolean> {
    if (!stored) return false
    if (stored.node === this.#parts.nodes.self || (stored.epoch ?? 0) < open.session.epoch) return true
    return await this.#isLatest(open)
  }

  /** Whether the client has connected nowhere since. @throws ThingwireError of the store */
  async #isLatest(open: OpenSession): Promise<boolean> {
    if (this.#parts.nodes.isAlone) return true
    for (;;) {
      const { claims } = open
      for (const claim of claims) if (claim.isLatest && (await claim.confirm())) return true
      // Who has come meanwhile is not asked for yet.
      if (open.claims === claims) return false
    }
  }

  /** Keeps the sessions that are in use, and gives up those that were not used for too long. */
  async sweep(): Promise<void> {
    for (const { session, isReady } of this.#open.values()) if (isReady) await this.save(session)
    const isClosed = (clientId: string) => !this.#open.has(clientId)
    for await (const clientId of this.#stored.forgetOlder(Date.now() - sessionLifetime, isClosed)) {
      this.#parts.log.cover(clientId, [])
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
    for await (const clientId of this.#stored.clientIdsIn(scope)) clientIds.add(clientId)
    for (const clientId of clientIds) await this.#forget(clientId)
  }

  async #forget(clientId: string): Promise<void> {
    await this.#stored.forget(clientId)
    this.#parts.log.cover(clientId, [])
  }

  #newSession(clientId: string, isPersistent: boolean): Session {
    const { live, nodes } = this.#parts
    return newSession(clientId, isPersistent, live.position, nodes)
  }
}

/** A session that nobody uses yet. */
function unusedSession(session: Session): OpenSession {
  const ready = Promise.resolve()
  return { session, ready, isReady: false, isDoubtful: false, claims: [], users: 0, visits: 0 }
}

function connectedAgain(): ConnectRefused {
  return new ConnectRefused(3, 'the client has connected again')
}
