import { type Lock, type Locks, type TakenLock, unlessLost } from '../../core/locks.ts'
import type { Nodes } from '../../core/nodes.ts'
import type { DocumentPut, DocumentStore, PutPurpose } from '../../core/ports.ts'
import type { Live } from '../../live/index.ts'
import type { MqttThings } from '../mqtt-things.ts'
import { clientLock } from './client-lock.ts'
import type { Subscription } from './interest.ts'
import { type MqttSession, newSession, storedSession } from './session.ts'
import type { InFlightWrite } from './session-documents.ts'
import type { SessionLog } from './session-log.ts'
import type { StoreRetries } from './store-retries.ts'
import { StoredSessions, type Usage } from './stored-sessions.ts'

/** How long a persistent session is kept after it was last connected, milliseconds (contract §7). */
const sessionLifetime = 7 * 24 * 3_600_000
const sweepInterval = 3_600_000
/** How often it is kept how far connected sessions have acknowledged, milliseconds. */
const saveInterval = 1_000

/** For so long a connection that has taken a client may need to begin its session, milliseconds: more than a CONNECT may take. */
const longestBegin = 10_000

/** A persistent session that this node has in memory; its lock is that of the newest connection. */
interface OpenSession extends Usage {
  isInUse: boolean
  /** When the lock was found to be lost, on the clock of `performance.now()`: for a while a connection here may go on with it. */
  lostAt?: number
}

/** A session that a connection has begun, and its QoS 2 packets that are stored and not released. */
interface BegunSession {
  readonly session: MqttSession
  readonly inFlight: readonly InFlightWrite[]
}

interface SessionsParts {
  readonly documents: DocumentStore
  readonly nodes: Nodes
  readonly locks: Locks
  readonly live: Live
  /** Covers the sessions in the store. */
  readonly log: SessionLog
  readonly retries: StoreRetries
  readonly things: Pick<MqttThings, 'clock' | 'believedTime'>
  /** There is no session of this client any more, and the store has nothing of it. */
  readonly onForgotten: (clientId: string) => void
}

/**
 * The sessions of clients that are connected, and in the store those of the ones that may come back. Of a persistent one the
 * store is right, whichever node had it: what is kept, is kept in the name of the connection that has taken the client last.
 * Only a connection that takes over here from one here goes on with what is in memory, which is newer.
 */
export class Sessions {
  readonly #parts: SessionsParts
  readonly #stored: StoredSessions
  /** By client id. */
  readonly #open = new Map<string, OpenSession>()
  /** Number of the newest write of the process before. */
  readonly #begin: number
  readonly #timers: readonly NodeJS.Timeout[]
  #isSaving = false

  constructor(parts: SessionsParts) {
    this.#parts = parts
    this.#stored = new StoredSessions(parts.documents, parts.nodes.self, parts.things.clock)
    this.#begin = parts.live.writeNumber
    this.#timers = [
      setInterval(() => void this.sweep().catch(() => {}), sweepInterval).unref(),
      setInterval(() => void this.#saveAcked(), saveInterval).unref(),
    ]
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer)
  }

  /** A session that ends with its connection, of a client id under which nothing is kept. */
  beginNew(clientId: string): MqttSession {
    return newSession(clientId, false, this.#parts.live.writeNumber)
  }

  /**
   * A session that ends with its connection; whatever was kept under the client id is dropped (MQTT-3.1.2-6).
   *
   * @throws LockLost @throws ThingwireError of the store
   */
  async begin(clientId: string, lock: Lock): Promise<MqttSession> {
    this.#open.delete(clientId)
    if (await this.#stored.read(clientId)) await this.#forget(clientId, lock)
    return this.beginNew(clientId)
  }

  /**
   * The session of a client that wants to find it again when it comes back, durable when this resolves.
   *
   * @throws LockLost @throws ThingwireError too_many_persistent_sessions; of the store
   */
  async resume(clientId: string, lock: TakenLock): Promise<BegunSession> {
    const present = this.#open.get(clientId)
    const isPresent = present !== undefined && present.lock.owner === lock.before
    const session = isPresent ? { ...present.session, wasPresent: true } : await this.#load(clientId)
    const open = { session, lock, isInUse: true }
    // Before anything is waited for: the connection before keeps what it was about to keep no more.
    if (isPresent) this.#open.set(clientId, open)
    const left = await this.#stored.inFlight(clientId)
    // Of one that goes on in memory the store says that it is in use.
    if (!isPresent || !present.isInUse) {
      if (session.wasPresent) await this.#keep(open, 'essential')
      else await this.#keep(open, 'keep', await this.#stored.removalOf(clientId))
    }
    this.#open.set(clientId, open)
    return { session, inFlight: session.wasPresent ? left : [] }
  }

  async #load(clientId: string): Promise<MqttSession> {
    const { nodes, live } = this.#parts
    const stored = await this.#stored.read(clientId)
    if (!stored) {
      await this.#stored.assertRoom(clientId)
      return newSession(clientId, true, live.writeNumber)
    }
    return storedSession(clientId, stored, { nodes, begin: this.#begin })
  }

  /**
   * To be called once for each session that was given out, when its connection is gone and has nothing under way. Resolves when
   * that is kept.
   *
   * @throws ThingwireError of the store, if the service ends before
   */
  async leave(session: MqttSession): Promise<void> {
    const { clientId } = session
    const open = this.#open.get(clientId)
    if (open?.session !== session) return
    open.isInUse = false
    try {
      await this.#parts.retries.run(() => this.#keep(open, 'essential'))
      if (this.#open.get(clientId) === open) this.#open.delete(clientId)
    } catch (error) {
      noteLoss(open, error)
    }
  }

  /** The session that is kept in the name of this lock. */
  heldBy(clientId: string, { owner }: Lock): MqttSession | undefined {
    const open = this.#open.get(clientId)
    return open?.lock.owner === owner ? open.session : undefined
  }

  /** To be called before subscriptions are added: the commit log has what they may miss from here on. */
  cover(
    { clientId, isPersistent, interests }: MqttSession,
    added: Iterable<Omit<Subscription, 'from'>>,
  ): void {
    if (isPersistent) this.#parts.log.cover(clientId, [...interests, ...added])
  }

  /**
   * Keeps the session as it is, and that it was in use now.
   *
   * @param purpose `keep` where it has got more filters
   * @throws LockLost @throws ThingwireError of the store
   */
  async save(session: MqttSession, purpose: PutPurpose): Promise<void> {
    const open = this.#open.get(session.clientId)
    if (open?.session === session) await this.#keep(open, purpose)
  }

  async #keep(usage: Usage, purpose: PutPurpose, others?: DocumentPut): Promise<void> {
    this.#parts.log.cover(usage.session.clientId, usage.session.interests)
    await this.#stored.keep(usage, purpose, others)
  }

  /** Keeps how far the sessions in use have acknowledged, so that a crash has little sent again. */
  async #saveAcked(): Promise<void> {
    if (this.#isSaving) return
    this.#isSaving = true
    const kept: Promise<void>[] = []
    for (const [clientId, open] of this.#open) {
      if (open.lostAt === undefined)
        kept.push(this.#stored.keepChanged(open).catch(error => noteLoss(open, error)))
      else if (performance.now() - open.lostAt > longestBegin) this.#open.delete(clientId)
    }
    // What fails now is kept a second later; who has lost its client, hears of it.
    await Promise.allSettled(kept)
    this.#isSaving = false
  }

  /** Keeps the sessions that are in use, and gives up those that were not used for too long. */
  async sweep(): Promise<void> {
    for (const open of this.#open.values()) await this.#keep(open, 'essential').catch(unlessLost)
    const isClosed = (clientId: string) => !this.#open.has(clientId)
    const before = (await this.#parts.things.believedTime()) - sessionLifetime
    for await (const clientId of this.#stored.forgetOlder(before, isClosed)) {
      this.#parts.log.cover(clientId, [])
      this.#parts.onForgotten(clientId)
    }
  }

  /**
   * Ends every session of a principal that never comes back.
   *
   * @param principal as `principalName` has it
   * @throws ThingwireError of the store
   */
  async end(principal: string): Promise<void> {
    const { locks } = this.#parts
    const scope = `${principal}:`
    const clientIds = new Set([...this.#open.keys()].filter(clientId => clientId.startsWith(scope)))
    for await (const clientId of this.#stored.clientIdsIn(scope)) clientIds.add(clientId)
    for (const clientId of clientIds) {
      this.#open.delete(clientId)
      // Whoever still has the client keeps nothing of it any more.
      const lock = await locks.take(clientLock(clientId))
      await this.#forget(clientId, lock).catch(unlessLost)
      await locks.release(lock)
    }
  }

  async #forget(clientId: string, lock: Lock): Promise<void> {
    await this.#stored.forget(clientId, lock)
    this.#parts.log.cover(clientId, [])
    this.#parts.onForgotten(clientId)
  }
}

/** @throws other errors than that the lock is lost */
function noteLoss(open: OpenSession, error: unknown): void {
  unlessLost(error)
  open.lostAt = performance.now()
}
