import { promiseOf, settle, type Ticket } from '../../core/async/ticket.ts'
import type { Append, CommitTicket, DriverRecords, Receipt } from '../contract.ts'
import type { TimeLimit } from './time-limit.ts'

/** Appends under way: a copy of one shares the fate of the first. */
export class PendingAppends {
  readonly #append: DriverRecords['append']
  readonly #limit: TimeLimit
  /** Held until the driver has settled, which may be after the first caller's time limit. */
  readonly #byWriteId = new Map<string, Promise<Receipt>>()

  constructor(append: DriverRecords['append'], limit: TimeLimit) {
    this.#append = append
    this.#limit = limit
  }

  /** What a write in flight with this id comes to; undefined if there is none. */
  inFlight(thingId: string, id: string): Promise<Receipt> | undefined {
    const first = this.#byWriteId.get(nameOf(thingId, id))
    return first && promiseOf(ticket => this.#limit.run(ticket, own => settle(own, first)))
  }

  submit(write: Append, ticket: Ticket<Receipt>): undefined {
    const { thingId, id, documents, lock } = write
    if (id === undefined) return this.#limit.run(ticket, own => this.#append(write, own), lock)
    // The documents of a copy are its own: it goes on to the driver, where it stands behind the first.
    const copied = documents ? undefined : this.inFlight(thingId, id)
    if (copied) {
      return settle(
        ticket,
        copied.then(({ answer }) => ({ writeNumber: 0, answer })),
      )
    }
    const begin = (limited: CommitTicket<Receipt>) => {
      const name = nameOf(thingId, id)
      const settled = () => {
        if (this.#byWriteId.get(name) === newest) this.#byWriteId.delete(name)
      }
      let copies: Ticket<Receipt> | undefined
      const newest = promiseOf<Receipt>(ticket => {
        copies = ticket
      })
      this.#append(write, {
        get expired() {
          return limited.expired
        },
        deadline: limited.deadline,
        resolve: receipt => {
          limited.resolve(receipt)
          copies?.resolve(receipt)
        },
        // At once, or what is handed in behind it would not be given up with it; and whoever is told may ask for this id.
        reject: error => {
          settled()
          limited.reject(error)
          copies?.reject(error)
        },
      })
      this.#byWriteId.set(name, newest)
      newest.then(settled, settled)
    }
    this.#limit.run(ticket, begin, lock)
  }
}

function nameOf(thingId: string, id: string): string {
  return `${thingId} ${id}`
}
