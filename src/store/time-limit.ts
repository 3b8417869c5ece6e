import { ThingwireError } from '../errors.ts'
import type { CommitTicket } from './contract.ts'
import type { LifeCycle } from './life-cycle.ts'

interface Waiter extends CommitTicket {
  expired: boolean
  readonly reject: (error: ThingwireError) => void
}

/** Gives whatever waits for a commit its time limit. */
export class TimeLimit {
  readonly #timeout: number
  readonly #life: Pick<LifeCycle, 'enter' | 'leave'>
  /** In the order of their deadlines, since all have the same time limit. */
  readonly #waiters = new Set<Waiter>()
  readonly #sweep: NodeJS.Timeout

  /**
   * @param timeout milliseconds
   * @param life that is not over before what was begun has settled, whether or not it was still waited for
   */
  constructor(timeout: number, life: Pick<LifeCycle, 'enter' | 'leave'>) {
    this.#timeout = timeout
    this.#life = life
    // One timer for all: a timer for each write would cost the hot path.
    this.#sweep = setInterval(() => this.#expireOverdue(), Math.min(250, Math.ceil(timeout / 4)))
    this.#sweep.unref()
  }

  close(): void {
    clearInterval(this.#sweep)
  }

  /** What `begin` resolves to, or store_timeout if that takes too long. */
  run<T>(begin: (ticket: CommitTicket) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { expired: false, deadline: performance.now() + this.#timeout, reject }
      const begun = begin(waiter)
      this.#life.enter()
      this.#waiters.add(waiter)
      begun.then(
        result => {
          this.#settled(waiter)
          resolve(result)
        },
        (error: unknown) => {
          this.#settled(waiter)
          reject(error)
        },
      )
    })
  }

  #settled(waiter: Waiter): void {
    this.#waiters.delete(waiter)
    this.#life.leave()
  }

  #expireOverdue(): void {
    const now = performance.now()
    for (const waiter of this.#waiters) {
      if (waiter.deadline > now) return
      this.#waiters.delete(waiter)
      waiter.expired = true
      waiter.reject(new ThingwireError('store_timeout'))
    }
  }
}
