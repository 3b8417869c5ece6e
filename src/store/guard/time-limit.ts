import type { Ticket } from '../../core/async/ticket.ts'
import type { Lock } from '../../core/locks.ts'
import { isOutage } from '../../core/outage.ts'
import { ThingwireError } from '../../errors.ts'
import type { CommitTicket } from '../contract.ts'
import type { LifeCycle } from './life-cycle.ts'

/** A node of a circular linked list. */
class Link {
  #previous: Link = this
  next: Link = this

  /** Inserts this node before `other`. */
  enter(other: Link): void {
    this.#previous = other.#previous
    this.next = other
    this.#previous.next = this
    other.#previous = this
  }

  leave(): void {
    this.#previous.next = this.next
    this.next.#previous = this.#previous
    // Clears the links. A removed node in the old generation of the heap would keep later nodes alive until a major collection.
    this.#previous = this
    this.next = this
  }
}

class Waiter<Result> extends Link implements CommitTicket<Result> {
  expired = false
  readonly deadline: number
  /** Owner of the lock that the call names. */
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

  /** Expires later calls of the same owner. The owner repeats them all, and none may commit before this call is repeated. */
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

/** The time limit of every call that waits for a commit. */
export class TimeLimit {
  readonly #timeout: number
  readonly #life: Pick<LifeCycle, 'enter' | 'leave'>
  /**
   * The head of the circular list of waiters, ordered by deadline, since all have the same time limit. A `Set` would often allocate
   * a new table as waiters are added and removed, and discarded tables in the old generation of the heap would keep waiters alive.
   */
  readonly #waiting = new Link()
  readonly #sweep: NodeJS.Timeout
  #sweptAt = performance.now()

  /** @param timeout milliseconds @param life waits for every call that was begun, including expired calls */
  constructor(timeout: number, life: Pick<LifeCycle, 'enter' | 'leave'>) {
    this.#timeout = timeout
    this.#life = life
    // One timer for all calls: a timer for each write would slow down the hot path.
    this.#sweep = setInterval(() => this.#expireOverdue(), Math.min(125, Math.ceil(timeout / 8)))
    this.#sweep.unref()
  }

  close(): void {
    clearInterval(this.#sweep)
  }

  /**
   * Passes a new ticket to `begin`. Settles `ticket` when `begin` settles the new ticket or throws, or at the time limit.
   *
   * @param lock named by the call: if the call expires or an outage rejects it, later calls of the lock's owner expire too
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
    // Expires only calls that were overdue at the previous sweep: after a pause of the process, results may not be received yet.
    const overdueAt = this.#sweptAt
    this.#sweptAt = performance.now()
    for (;;) {
      const first = this.#waiting.next
      if (!(first instanceof Waiter) || first.deadline > overdueAt) return
      first.expire()
    }
  }
}
