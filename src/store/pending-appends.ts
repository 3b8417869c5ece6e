import { ThingwireError } from '../errors.ts'
import type { Append, AppendTicket, DriverRecords, Receipt } from './contract.ts'

interface Waiter extends AppendTicket {
  expired: boolean
  readonly deadline: number
  readonly expire: () => void
}

/** Appends under way: gives each its time limit, and a copy of one the fate of the first. */
export class PendingAppends {
  readonly #append: DriverRecords['append']
  readonly #timeout: number
  /** Held until the driver has settled, which may be after the first caller's time limit. */
  readonly #byWriteId = new Map<string, Promise<Receipt>>()
  /** In the order of their deadlines, since all have the same time limit. */
  readonly #waiters = new Set<Waiter>()
  readonly #sweep: NodeJS.Timeout

  /** @param timeout milliseconds */
  constructor(append: DriverRecords['append'], timeout: number) {
    this.#append = append
    this.#timeout = timeout
    // One timer for all: a timer for each write would cost the hot path.
    this.#sweep = setInterval(() => this.#expireOverdue(), Math.min(250, Math.ceil(timeout / 4)))
    this.#sweep.unref()
  }

  close(): void {
    clearInterval(this.#sweep)
  }

  /** What a write in flight with this id comes to; undefined if there is none. */
  inFlight(thingId: string, id: string): Promise<Receipt> | undefined {
    const first = this.#byWriteId.get(nameOf(thingId, id))
    return first && this.#inTime(() => first)
  }

  append(write: Append): Promise<Receipt> {
    const { thingId, id } = write
    if (id === undefined) return this.#inTime(ticket => this.#append(write, ticket))
    const copied = this.inFlight(thingId, id)
    if (copied) return copied.then(({ answer }) => ({ writeNumber: 0, answer }))
    return this.#inTime(ticket => {
      const first = this.#append(write, ticket)
      const name = nameOf(thingId, id)
      const settled = () => this.#byWriteId.delete(name)
      this.#byWriteId.set(name, first)
      first.then(settled, settled)
      return first
    })
  }

  /** What `begin` resolves to, or store_timeout if that takes too long. */
  #inTime(begin: (ticket: AppendTicket) => Promise<Receipt>): Promise<Receipt> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        expired: false,
        deadline: performance.now() + this.#timeout,
        expire: () => reject(new ThingwireError('store_timeout')),
      }
      const promise = begin(waiter)
      this.#waiters.add(waiter)
      promise.finally(() => this.#waiters.delete(waiter)).then(resolve, reject)
    })
  }

  #expireOverdue(): void {
    const now = performance.now()
    for (const waiter of this.#waiters) {
      if (waiter.deadline > now) return
      this.#waiters.delete(waiter)
      waiter.expired = true
      waiter.expire()
    }
  }
}

function nameOf(thingId: string, id: string): string {
  return `${thingId} ${id}`
}
