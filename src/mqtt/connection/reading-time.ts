/** How long packets are read in one turn of the event loop, milliseconds: a group of writes is put together in it, too. */
const longest = 6

/**
 * When packets of all connections may be read: for a while in each turn of the event loop, so that timers, HTTP and live
 * messages do not wait for all that a hundred sockets have received. Who finds none left waits behind the others: a
 * connection that takes a whole turn does not take the next one.
 */
export class ReadingTime {
  readonly #now: () => number
  /** When the newest packet was read, by the clock: to ask it again costs as much as to read one. */
  readAt = 0
  /** When the first packet of this turn was read. */
  #begin: number | undefined
  readonly #waiting = new Set<() => void>()

  /** @param now a monotonic clock, milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** @param resume called in a later turn, once, if there is none left in this one */
  isLeft(resume: () => void): boolean {
    if (this.#hasTime()) return true
    this.#waiting.add(resume)
    return false
  }

  #hasTime(): boolean {
    this.readAt = this.#now()
    if (this.#begin === undefined) {
      this.#begin = this.readAt
      setImmediate(() => this.#startTurn())
    }
    return this.readAt - this.#begin < longest
  }

  #startTurn(): void {
    this.#begin = undefined
    for (const resume of this.#waiting) {
      if (!this.#hasTime()) return
      this.#waiting.delete(resume)
      resume()
    }
  }
}
