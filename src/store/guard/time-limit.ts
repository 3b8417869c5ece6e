import type { Ticket } from '../../core/async/ticket.ts'
import type { Lock } from '../../core/locks.ts'
import { isOutage } from '../../core/outage.ts'
import { ThingwireError } from '../../errors.ts'
import type { CommitTicket } from '../contract.ts'
import type { LifeCycle } from './life-cycle.ts'

/** Of a ring of all that wait. */
class Link {
  #previous: Link = this
  next: Link = this

  /** Puts it before another one. */
  enter(other: Link): void {
    this.#previous = other.#previous
    this.next = other
    this.#previous.next = this
    other.#previous = this
  }

  leave(): void {
    this.#previous.next = this.next
    this.next.#previous = this.#previous
    // Or, dead in the old generation, it would keep the next ones, and all that they hold, until that is collected.
    this.#previous = this
    this.next = this
  }
}

class Waiter<Result> extends Link implements CommitTicket<Result> {
  expired = false
  readonly deadline: number
  /** In whose name it is. */
  readonly owner: string | undefined
  readonly #life: Pick<LifeCycle, 'leave'>
  readonly #ticket: Ticket<Result>

  constructor(
    ticket: Ticket<Result>,
    deadline: number,
    lock: Lock | undefined,
    life: Pick<LifeCycle, 'leave'>,
  ) {
    super()
    this.deadline = deadline
    this.owner = lock?.owner
    this.#life = life
    this.#ticket = ticket
  }

  resolve(result: Result): void {
    this.#settled()
    if (!this.expired) this.#ticket.resolve(result)
  }

  reject(error: unknown): void {
    if (!this.expired && isOutage(error)) this.#expireBehind()
    this.#settled()
    if (!this.expired) this.#ticket.reject(error)
  }

  expire(): void {
    this.#expireBehind()
    this.#expireAlone()
  }

  #expireAlone(): void {
    this.leave()
    this.expired = true
    this.#ticket.reject(new ThingwireError('store_timeout'))
  }

  /**
   * What was handed in behind it in the same name, without knowing, is not to be kept: whoever does it again does it in this order,
   * and what is newer would come before what is older.
   */
  #expireBehind(): void {
    if (this.owner === undefined) return
    const behind: Waiter<unknown>[] = []
    for (let next = this.next; next instanceof Waiter; next = next.next)
      if (next.owner === this.owner) behind.push(next)
    for (const waiter of behind) waiter.#expireAlone()
  }

  #settled(): void {
    this.leave()
    this.#life.leave()
  }
}

/** Gives whatever waits for a commit its time limit. */
export class TimeLimit {
  readonly #timeout: number
  readonly #life: Pick<LifeCycle, 'enter' | 'leave'>
  /**
   * Behind it the first that waits, before it the last: in the order of their deadlines, since all have the same time limit.
   * No `Set`: of a thousand that come and go it makes table after table, and each that has become old keeps what it held.
   */
  readonly #waiting = new Link()
  readonly #sweep: NodeJS.Timeout
  #sweptAt = performance.now()

  /**
   * @param timeout milliseconds
   * @param life that is not over before what was begun has settled, whether or not it was still waited for
   */
  constructor(timeout: number, life: Pick<LifeCycle, 'enter' | 'leave'>) {
    this.#timeout = timeout
    this.#life = life
    // One timer for all: a timer for each write would cost the hot path.
    this.#sweep = setInterval(() => this.#expireOverdue(), Math.min(125, Math.ceil(timeout / 8)))
    this.#sweep.unref()
  }

  close(): void {
    clearInterval(this.#sweep)
  }

  /**
   * Settles `ticket` as the one that `begin` is given, with what that throws, or with store_timeout if it takes too long.
   *
   * @param lock in whose name it is: what is begun behind it in the same name expires with it, and where the store fails it
   */
  run<Result>(ticket: Ticket<Result>, begin: (ticket: CommitTicket<Result>) => void, lock?: Lock): undefined {
    const waiter = new Waiter(ticket, performance.now() + this.#timeout, lock, this.#life)
    this.#life.enter()
    waiter.enter(this.#waiting)
    try {
      begin(waiter)
    } catch (error) {
      waiter.reject(error)
    }
  }

  #expireOverdue(): void {
    // As of the sweep before. After a pause of the process timers run first: what was committed is to be heard of in between.
    const overdueAt = this.#sweptAt
    this.#sweptAt = performance.now()
    for (;;) {
      const first = this.#waiting.next
      if (!(first instanceof Waiter) || first.deadline > overdueAt) return
      first.expire()
    }
  }
}
