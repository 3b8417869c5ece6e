import { type Lock, type TakenLock, unlessLost } from '../../core/locks.ts'
import type { DocumentPut, PutPurpose } from '../../core/ports.ts'
import type { MqttThings } from '../mqtt-things.ts'
import type { Subscription } from './interest.ts'
import { clientLock, type MqttSession, newSession, storedSession } from './session.ts'
import { type InFlightWrite, isOver, longestExpiry, type MqttSessionDocument } from './session-documents.ts'
import type { StoreRetries } from './store-retries.ts'
import { StoredSessions, type Usage } from './stored-sessions.ts'

const sweepInterval = 3_600_000
/** Interval at which the acks of connected sessions are stored, milliseconds. */
const saveInterval = 1_000

/** A clock that is further ahead of the believed time is not believed, milliseconds. */
const mostAhead = 24 * 3_600_000
/** Interval of checks for sessions that have ended, milliseconds. */
const endInterval = 1_000

/** Maximum time between taking a client's lock and beginning its session, milliseconds: longer than a CONNECT may take. */
const longestBegin = 10_000

/** A persistent session in memory, with the lock of its newest connection. */
interface OpenSession extends Usage {
  isInUse: boolean
  /** When the loss of the lock was noticed, by `performance.now()`. A new connection of this node may still resume the session. */
  lostAt?: number
}

export interface AskedSession {
  /** Whether an earlier session of the client ends. */
  readonly startsClean: boolean
  /** How long the session lasts after its connection, seconds; at most `longestExpiry`. */
  readonly expiry: number
}

interface BegunSession {
  readonly session: MqttSession
  /** QoS 2 packets that are stored but not released yet. */
  readonly inFlight: readonly InFlightWrite[]
}

interface SessionsParts
  extends Pick<
    MqttThings,
    'documents' | 'nodes' | 'locks' | 'live' | 'sessionLog' | 'clock' | 'believedTime'
  > {
  readonly retries: StoreRetries
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
  /** Closed sessions of this process, by client id. `due`: when they end, on the clock of `performance.now()`. */
  readonly #ends = new Map<string, { readonly due: number; readonly lastConnected: number }>()
  /** Number of the newest write when this process began. */
  readonly #begin: number
  readonly #timers: readonly NodeJS.Timeout[]
  #isSaving = false

  constructor(parts: SessionsParts) {
    this.#parts = parts
    this.#stored = new StoredSessions(parts.documents, parts.nodes.self, parts.clock)
    this.#begin = parts.live.writeNumber
    this.#timers = [
      setInterval(() => void this.sweep().catch(() => {}), sweepInterval).unref(),
      setInterval(() => void this.#saveAcked(), saveInterval).unref(),
      setInterval(() => void this.#endDue().catch(() => {}), endInterval).unref(),
    ]
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer)
  }

  /** A new session that ends with its connection, for a client id without a stored session. */
  beginNew(clientId: string): MqttSession {
    return newSession(clientId, 0, this.#parts.live.writeNumber)
  }

  /**
   * Resumes the client's session, or begins a new one. A new one replaces the stored one (MQTT-3.1.2-6).
   *
   * @throws LockLost @throws ThingwireError if the store fails; too_many_persistent_sessions
   */
  async begin(
    clientId: string,
    lock: TakenLock,
    { startsClean, expiry }: AskedSession,
  ): Promise<BegunSession> {
    const open = this.#open.get(clientId)
    const present = open !== undefined && open.lock.owner === lock.before ? open : undefined
    if (startsClean || present?.session.expiry === 0) return await this.#replace(clientId, lock, expiry)
    const session = present ? { ...present.session, wasPresent: true } : await this.#load(clientId)
    if (!session) return await this.#replace(clientId, lock, expiry)
    const isStored = present?.isInUse === true && session.expiry === expiry
    session.expiry = expiry
    const resumed = { session, lock, isInUse: true }
    // Set before the next await, so that the previous connection does not store the session any more.
    if (present) this.#open.set(clientId, resumed)
    const inFlight = await this.#stored.inFlight(clientId)
    // A session that was in use in memory is already stored as in use.
    if (!isStored) await this.#keep(resumed, 'essential')
    this.#open.set(clientId, resumed)
    return { session, inFlight }
  }

  /** The client's stored session, unless it has ended. */
  async #load(clientId: string): Promise<MqttSession | undefined> {
    const { nodes } = this.#parts
    const stored = await this.#stored.read(clientId)
    if (!stored || isOver(stored, await this.#now())) return undefined
    return storedSession(clientId, stored, { nodes, begin: this.#begin })
  }

  async #replace(clientId: string, lock: TakenLock, expiry: number): Promise<BegunSession> {
    const { live, onForgotten } = this.#parts
    this.#open.delete(clientId)
    const stored = await this.#stored.read(clientId)
    if (expiry === 0) {
      if (stored) await this.#forget(clientId, lock)
      return { session: this.beginNew(clientId), inFlight: [] }
    }
    if (!stored) await this.#stored.assertRoom(clientId)
    const session = newSession(clientId, expiry, live.writeNumber)
    const open = { session, lock, isInUse: true }
    await this.#keep(open, 'keep', await this.#stored.removalOf(clientId))
    if (stored) onForgotten(clientId)
    this.#open.set(clientId, open)
    return { session, inFlight: [] }
  }

  /**
   * Call this once per session, when the connection is closed and no packet is pending. Resolves when the session is stored, or
   * removed if it ends with its connection.
   *
   * @throws ThingwireError if the store fails, or if the service ends before the session is stored
   */
  async leave(session: MqttSession): Promise<void> {
    const { clientId } = session
    const open = this.#open.get(clientId)
    if (open?.session !== session) return
    open.isInUse = false
    try {
      const isEnded = session.expiry === 0
      const due = performance.now() + session.expiry * 1_000
      await this.#parts.retries.run(async () => {
        if (isEnded) await this.#forget(clientId, open.lock)
        else {
          const lastConnected = await this.#keep(open, 'essential')
          if (session.expiry < longestExpiry) this.#ends.set(clientId, { due, lastConnected })
        }
      })
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
    if (isPersistent) this.#parts.sessionLog.cover(clientId, [...interests, ...added])
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

  async #keep(usage: Usage, purpose: PutPurpose, others?: DocumentPut): Promise<number> {
    this.#parts.sessionLog.cover(usage.session.clientId, usage.session.interests)
    return await this.#stored.keep(usage, purpose, others)
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

  /** Stores the open sessions, and removes those that have ended. */
  async sweep(): Promise<void> {
    for (const open of this.#open.values()) await this.#keep(open, 'essential').catch(unlessLost)
    const isClosed = (clientId: string) => !this.#open.has(clientId)
    const now = await this.#now()
    for await (const clientId of this.#stored.forgetEnded(now, isClosed)) this.#forgotten(clientId)
  }

  /**
   * Takes over the ends of sessions from nodes that have died. A session in use then begins to end.
   *
   * @param alive the live nodes @throws ThingwireError if the store fails
   */
  async adopt(alive: ReadonlySet<string>): Promise<void> {
    const now = await this.#now()
    for await (const [clientId, session] of this.#stored.list()) {
      const { node, isInUse, lastConnected, expiry = longestExpiry } = session
      // The sweep removes sessions of the longest expiry.
      if (alive.has(node) || expiry === longestExpiry || this.#open.has(clientId)) continue
      const passed = isInUse ? 0 : Math.max(0, now - lastConnected)
      this.#ends.set(clientId, { due: performance.now() + expiry * 1_000 - passed, lastConnected })
    }
  }

  /** Removes the sessions that have ended since the last call. */
  async #endDue(): Promise<void> {
    const now = performance.now()
    for (const [clientId, { due, lastConnected }] of this.#ends) {
      if (this.#open.has(clientId)) this.#ends.delete(clientId)
      if (due > now || !this.#ends.delete(clientId)) continue
      const hasEnded = (stored: MqttSessionDocument) => stored.lastConnected === lastConnected
      if (await this.#stored.forgetIf(clientId, hasEnded)) this.#forgotten(clientId)
    }
  }

  /** The time by which sessions end, milliseconds since 1970. A clock that is far ahead must not end them (contract §4.5). */
  async #now(): Promise<number> {
    const { clock, believedTime } = this.#parts
    const [shown, believed] = [clock.now() - clock.behind(), await believedTime()]
    return shown - believed > mostAhead ? believed : shown
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
    this.#forgotten(clientId)
  }

  #forgotten(clientId: string): void {
    this.#ends.delete(clientId)
    this.#parts.sessionLog.cover(clientId, [])
    this.#parts.onForgotten(clientId)
  }
}

/** @throws errors other than LockLost */
function noteLoss(open: OpenSession, error: unknown): void {
  unlessLost(error)
  open.lostAt = performance.now()
}
