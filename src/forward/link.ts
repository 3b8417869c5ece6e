import { rest } from '../core/async/retry-until.ts'
import { Connection, LinkDown } from './connection.ts'
import type { Target } from './target.ts'

/** Maximum number of connections. The central server accepts more from one address (contract §9). */
const mostConnections = 200
/** Maximum number of connections that are being opened at the same time. */
const mostAttempts = 8
/** Delays before an attempt to reconnect, milliseconds. */
const firstDelay = 1_000
const longestDelay = 60_000

export interface ConnectionUser {
  /** Whether the user has nothing to send now, so its connection may be given to another user. */
  readonly isIdle: boolean
}

/** Limits the number of connections to the central server, and decides when to reconnect. */
export class Link {
  readonly #target: Target
  readonly #onChange: (problem?: string) => void
  readonly #connections = new Map<ConnectionUser, Connection>()
  #opening = 0
  #attempts = 0
  #placesWanted = 0
  #waiting: (() => void)[] = []
  #failures = 0
  /** Time of the next attempt, monotonic clock, milliseconds. */
  #retryAt = 0
  /** Why the central server was not reached; undefined if it was reached, or no attempt was made. */
  problem: string | undefined

  /** @param onChange called with a problem when the central server is lost, and without a problem when it can be reached again */
  constructor(target: Target, onChange: (problem?: string) => void) {
    this.#target = target
    this.#onChange = onChange
  }

  get connections(): number {
    return [...this.#connections.values()].filter(({ isOpen }) => isOpen).length
  }

  /** Opens a connection when there is room for one. @throws LinkDown, also if `stop` is aborted; ThingHeld */
  async connect(
    user: ConnectionUser,
    token: string,
    clientId: string,
    stop: AbortSignal,
  ): Promise<Connection> {
    return await this.attempt(stop, async target => {
      await this.#place(stop)
      this.#opening++
      try {
        const connection = await Connection.open(target, token, clientId)
        this.#connections.set(user, connection)
        return connection
      } finally {
        this.#opening--
      }
    })
  }

  /** Runs a task that opens a connection, when the next attempt is due. @throws errors of `connect` and of the task */
  async attempt<Result>(stop: AbortSignal, task: (target: Target) => Promise<Result>): Promise<Result> {
    await this.#turn(stop)
    try {
      const result = await task({ ...this.#target, stop })
      if (this.problem !== undefined) {
        this.problem = undefined
        this.#onChange()
      }
      return result
    } catch (error) {
      if (error instanceof LinkDown && !stop.aborted) this.lost(error.message)
      throw error
    } finally {
      this.#attempts--
      this.#wake()
    }
  }

  /** Whether a user waits for a connection because there are already `mostConnections`. */
  get isCrowded(): boolean {
    return this.#placesWanted > 0
  }

  acked(): void {
    this.#failures = 0
  }

  release(user: ConnectionUser): void {
    this.#connections.get(user)?.close()
    this.#connections.delete(user)
    this.#wake()
  }

  /** Closes all connections. Calls that are waiting reject if their `stop` is aborted. */
  close(): void {
    for (const user of this.#connections.keys()) this.release(user)
    this.#wake()
  }

  async #turn(stop: AbortSignal): Promise<void> {
    for (;;) {
      if (stop.aborted) throw new LinkDown('no further attempt is made')
      const wait = this.#retryAt - performance.now()
      if (wait > 0) await rest(wait, stop)
      // After a failure, only one attempt is made at a time.
      else if (this.#attempts < (this.#failures > 0 ? 1 : mostAttempts)) break
      else await this.#change()
    }
    this.#attempts++
  }

  async #place(stop: AbortSignal): Promise<void> {
    while (this.#connections.size + this.#opening >= mostConnections) {
      if (stop.aborted) throw new LinkDown('no further attempt is made')
      const idle = [...this.#connections.keys()].find(({ isIdle }) => isIdle)
      if (idle) this.release(idle)
      else {
        this.#placesWanted++
        await this.#change()
        this.#placesWanted--
      }
    }
  }

  /** Resolves at the next change, or after one second. */
  async #change(): Promise<void> {
    await new Promise<void>(resolve => {
      const late = setTimeout(resolve, 1_000)
      this.#waiting.push(() => {
        clearTimeout(late)
        resolve()
      })
    })
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  /** Call this when a connection has failed or was lost: all users wait for a while. */
  lost(problem: string): void {
    // One outage fails many connections; only the first failure counts.
    if (performance.now() < this.#retryAt) return
    const delay = Math.min(longestDelay, firstDelay * 2 ** this.#failures++)
    // The delay is random, so the clients of a central server do not all return at the same time.
    this.#retryAt = performance.now() + delay * (0.5 + Math.random() / 2)
    const isNew = this.problem === undefined
    this.problem = problem
    if (isNew) this.#onChange(problem)
  }
}

/** Limits the bytes per second. Calls are served in order. */
export class ByteBudget {
  readonly #bytesPerSecond: number
  /** When the link is free again, monotonic clock, milliseconds. */
  #freeAt = 0

  /** @param bytesPerSecond Infinity for no limit */
  constructor(bytesPerSecond = Number.POSITIVE_INFINITY) {
    this.#bytesPerSecond = bytesPerSecond
  }

  /** Maximum number of bytes of one write: as many as may be sent in a second, so that no thing occupies the link for long. */
  get piece(): number {
    return this.#bytesPerSecond
  }

  /** Resolves when the bytes may be sent. */
  async take(bytes: number, stop: AbortSignal): Promise<void> {
    if (this.#bytesPerSecond === Number.POSITIVE_INFINITY) return
    const now = performance.now()
    const from = Math.max(now, this.#freeAt)
    this.#freeAt = from + (bytes / this.#bytesPerSecond) * 1_000
    if (from > now) await rest(from - now, stop)
  }
}
