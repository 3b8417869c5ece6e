import { type Lock, type TakenLock, unlessLost } from '../../core/locks.ts'
import type { DocumentPut, PutPurpose } from '../../core/ports.ts'
import type { MqttThings } from '../mqtt-things.ts'
import { clientLock } from './client-lock.ts'
import type { Subscription } from './interest.ts'
import { type MqttSession, newSession, storedSession } from './session.ts'
import type { InFlightWrite } from './session-documents.ts'
import type { SessionLog } from './session-log.ts'
import type { StoreRetries } from './store-retries.ts'
import { StoredSessions, type Usage } from './stored-sessions.ts'

/** How long a persistent session is kept after it was last connected, milliseconds (contract §7.1). */
const sessionLifetime = 7 * 24 * 3_600_000
const sweepInterval = 3_600_000
/** Interval at which the acks of connected sessions are stored, milliseconds. */
const saveInterval = 1_000

/** Maximum time between taking a client's lock and beginning its session, milliseconds: longer than a CONNECT may take. */
const longestBegin = 10_000

/** A persistent session in memory, with the lock of its newest connection. */
interface OpenSession extends Usage {
  isInUse: boolean
  /** When the loss of the lock was noticed, by `performance.now()`. A new connection of this node may still resume the session. */
  lostAt?: number
}

interface BegunSession {
  readonly session: MqttSession
  /** QoS 2 packets that are stored but not released yet. */
  readonly inFlight: readonly InFlightWrite[]
}

interface SessionsParts extends Pick<MqttThings, 'documents' | 'nodes' | 'locks' | 'live'> {
  /** The session log, which already covers the stored sessions. */
  readonly log: SessionLog
  readonly retries: StoreRetries
  readonly things: Pick<MqttThings, 'clock' | 'believedTime'>
  /** Called when a client's session has ended and its documents are removed. */
  readonly onForgotten: (clientId: string) => void
}

/**
 * The sessions of connected clients in memory, and persistent sessions in the store. A connection reads a persistent session from
 * the store, no matter which node had it before, and changes it under the client's lock. If the previous connection was on this
 * node, however, the session is resumed from memory, where it is newer.
 */
export class Sessions {
  readonly #parts: SessionsParts
  readonly #stored: StoredSessions
  /** Open sessions by client id. */
  readonly #open = new Map<string, OpenSession>()
  /** Number of the newest write when this process began. */
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

  /** A new clean session, for a client id without a stored session. */
  beginNew(clientId: string): MqttSession {
    return newSession(clientId, false, this.#parts.live.writeNumber)
  }

  /** A clean session. Removes the client's stored session (MQTT-3.1.2-6). @throws LockLost @throws ThingwireError if the store fails */
  async begin(clientId: string, lock: Lock): Promise<MqttSession> {
    this.#open.delete(clientId)
    if (await this.#stored.read(clientId)) await this.#forget(clientId, lock)
    return this.beginNew(clientId)
  }

  /** Resumes or begins a persistent session. @throws LockLost @throws ThingwireError if the store fails; too_many_persistent_sessions */
  async resume(clientId: string, lock: TakenLock): Promise<BegunSession> {
    const present = this.#open.get(clientId)
    const isPresent = present !== undefined && present.lock.owner === lock.before
    const session = isPresent ? { ...present.session, wasPresent: true } : await this.#load(clientId)
    const open = { session, lock, isInUse: true }
    // Set before the first await, so that the previous connection does not store the session any more.
    if (isPresent) this.#open.set(clientId, open)
    const left = await this.#stored.inFlight(clientId)
    // A session that was in use in memory is already stored as in use.
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
   * Call this once per session, when the connection is closed and no packet is pending. Resolves when the session is stored.
   *
   * @throws ThingwireError if the store fails, or if the service ends before the session is stored
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

  /** The client's open session; undefined if it is not open under this lock. */
  heldBy(clientId: string, { owner }: Lock): MqttSession | undefined {
    const open = this.#open.get(clientId)
    return open?.lock.owner === owner ? open.session : undefined
  }

  /** Call this before adding subscriptions, so that the commit log keeps commits for them. */
  cover(
    { clientId, isPersistent, interests }: MqttSession,
    added: Iterable<Omit<Subscription, 'from'>>,
  ): void {
    if (isPersistent) this.#parts.log.cover(clientId, [...interests, ...added])
  }

  /**
   * Stores the session, with the current time as the time of its last connection.
   *
   * @param purpose `keep` if filters were added to the session
   * @throws LockLost @throws ThingwireError if the store fails
   */
  async save(session: MqttSession, purpose: PutPurpose): Promise<void> {
    const open = this.#open.get(session.clientId)
    if (open?.session === session) await this.#keep(open, purpose)
  }

  async #keep(usage: Usage, purpose: PutPurpose, others?: DocumentPut): Promise<void> {
    this.#parts.log.cover(usage.session.clientId, usage.session.interests)
    await this.#stored.keep(usage, purpose, others)
  }

  /** Stores the acks of open sessions, so that few messages are sent again after a crash. */
  async #saveAcked(): Promise<void> {
    if (this.#isSaving) return
    this.#isSaving = true
    const kept: Promise<void>[] = []
    for (const [clientId, open] of this.#open) {
      if (open.lostAt === undefined)
        kept.push(this.#stored.keepChanged(open).catch(error => noteLoss(open, error)))
      else if (performance.now() - open.lostAt > longestBegin) this.#open.delete(clientId)
    }
    // A put that failed is repeated a second later.
    await Promise.allSettled(kept)
    this.#isSaving = false
  }

  /** Stores the open sessions, and removes expired ones. */
  async sweep(): Promise<void> {
    for (const open of this.#open.values()) await this.#keep(open, 'essential').catch(unlessLost)
    const isClosed = (clientId: string) => !this.#open.has(clientId)
    const before = (await this.#parts.things.believedTime()) - sessionLifetime
    for await (const clientId of this.#stored.forgetOlder(before, isClosed)) {
      this.#parts.log.cover(clientId, [])
      this.#parts.onForgotten(clientId)
    }
  }

  /** Ends every session of a removed principal. @param principal result of `principalName` @throws ThingwireError if the store fails */
  async end(principal: string): Promise<void> {
    const { locks } = this.#parts
    const scope = `${principal}:`
    const clientIds = new Set([...this.#open.keys()].filter(clientId => clientId.startsWith(scope)))
    for await (const clientId of this.#stored.clientIdsIn(scope)) clientIds.add(clientId)
    for (const clientId of clientIds) {
      this.#open.delete(clientId)
      // Taking the lock prevents a connection that still acts for the client from storing the session.
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

/** @throws errors other than LockLost */
function noteLoss(open: OpenSession, error: unknown): void {
  unlessLost(error)
  open.lostAt = performance.now()
}
