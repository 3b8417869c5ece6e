import { rest } from '../core/async/retry-until.ts'
import { Connection, LinkDown } from './connection.ts'
import type { Target } from './target.ts'

/** Connections to the central server at once: fewer than it takes from one address (contract §9). */
const mostConnections = 200
/** Connections that are being made at once. */
const mostAttempts = 8
/** Milliseconds. */
const firstDelay = 1_000
const longestDelay = 60_000

/** Whoever uses a connection. */
export interface ConnectionUser {
  /** Whether it has nothing to send now, so that the connection can be given to another one. */
  readonly isIdle: boolean
}

/** The way to the central server: how many connections there are, and when a lost one is tried again. */
export class Link {
  readonly #target: Target
  readonly #onChange: (problem?: string) => void
  readonly #connections = new Map<ConnectionUser, Connection>()
  /** Connections that are being made. */
  #opening = 0
  #attempts = 0
  #placesWanted = 0
  #waiting: (() => void)[] = []
  #failures = 0
  /** When it may be tried again, by the monotonic clock. */
  #retryAt = 0
  /** Why it was not reached; undefined: it was, or nobody has tried. */
  problem: string | undefined

  /** @param onChange called when it can no longer be reached, and why, and when it is reached again */
  constructor(target: Target, onChange: (problem?: string) => void) {
    this.#target = target
    this.#onChange = onChange
  }

  get connections(): number {
    return [...this.#connections.values()].filter(({ isOpen }) => isOpen).length
  }

  /** Waits until a connection can be made, and makes it. @throws LinkDown, ThingHeld; LinkDown if `stop` is aborted */
  async connect(
    user: ConnectionUser,
    token: string,
    clientId: string,
    stop: AbortSignal,
  ): Promise<Connection> {
    return await this.attempt(stop, async () => {
      await this.#place(stop)
      this.#opening++
      try {
        const connection = await Connection.open(this.#target, token, clientId)
        this.#connections.set(user, connection)
        return connection
      } finally {
        this.#opening--
      }
    })
  }

  /** Does something that needs a connection, when one may be tried. @throws as `connect`, and what the task throws */
  async attempt<Result>(stop: AbortSignal, task: (target: Target) => Promise<Result>): Promise<Result> {
    await this.#turn(stop)
    try {
      const result = await task(this.#target)
      this.#reached()
      return result
    } catch (error) {
      if (error instanceof LinkDown && !stop.aborted) this.#failed(error.message)
      throw error
    } finally {
      this.#attempts--
      this.#wake()
    }
  }

  /** Whether somebody waits for a connection, and there are as many as may be. */
  get isCrowded(): boolean {
    return this.#placesWanted > 0
  }

  /** A write was acknowledged. */
  acked(): void {
    this.#failures = 0
  }

  /** A connection was lost over a write: all wait for a while. */
  lost(problem: string): void {
    this.#failed(problem)
  }

  /** Closes the connection of a user, if it has one. */
  release(user: ConnectionUser): void {
    this.#connections.get(user)?.close()
    this.#connections.delete(user)
    this.#wake()
  }

  /** Closes all. A wait whose `stop` is aborted rejects. */
  close(): void {
    for (const user of this.#connections.keys()) this.release(user)
    this.#wake()
  }

  async #turn(stop: AbortSignal): Promise<void> {
    for (;;) {
      if (stop.aborted) throw new LinkDown('it is not tried any more')
      const wait = this.#retryAt - performance.now()
      if (wait > 0) await rest(wait, stop)
      // After a failure one tries for all.
      else if (this.#attempts < (this.#failures > 0 ? 1 : mostAttempts)) break
      else await this.#change()
    }
    this.#attempts++
  }

  async #place(stop: AbortSignal): Promise<void> {
    while (this.#connections.size + this.#opening >= mostConnections) {
      if (stop.aborted) throw new LinkDown('it is not tried any more')
      const idle = [...this.#connections.keys()].find(({ isIdle }) => isIdle)
      if (idle) this.release(idle)
      else {
        this.#placesWanted++
        await this.#change()
        this.#placesWanted--
      }
    }
  }

  /** Something has changed; looked at once a second in any case. */
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

  #reached(): void {
    if (this.problem === undefined) return
    this.problem = undefined
    this.#onChange()
  }

  #failed(problem: string): void {
    // Of those that one outage has hit, the first reports it.
    if (performance.now() < this.#retryAt) return
    const delay = Math.min(longestDelay, firstDelay * 2 ** this.#failures++)
    // Those whom one outage has hit do not all come at once when it ends.
    this.#retryAt = performance.now() + delay * (0.5 + Math.random() / 2)
    const isNew = this.problem === undefined
    this.problem = problem
    if (isNew) this.#onChange(problem)
  }
}

/** Limits the bytes that are sent to so many a second, in the order of the calls. */
export class ByteBudget {
  readonly #bytesPerSecond: number
  /** When the link is free again, by the monotonic clock. */
  #freeAt = 0

  /** @param bytesPerSecond Infinity: as many as there are */
  constructor(bytesPerSecond = Number.POSITIVE_INFINITY) {
    this.#bytesPerSecond = bytesPerSecond
  }

  /** Most bytes that are sent in one piece: those of a second, so that one thing does not keep the link for long. */
  get piece(): number {
    return this.#bytesPerSecond
  }

  /** Resolves when so many bytes may be sent. */
  async take(bytes: number, stop: AbortSignal): Promise<void> {
    if (this.#bytesPerSecond === Number.POSITIVE_INFINITY) return
    const now = performance.now()
    const from = Math.max(now, this.#freeAt)
    this.#freeAt = from + (bytes / this.#bytesPerSecond) * 1_000
    if (from > now) await rest(from - now, stop)
  }
}
