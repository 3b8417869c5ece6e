/** How long packets are read in one turn of the event loop, milliseconds: a group of writes is put together in it, too. */
const longest = 6

/**
 * When packets of all connections may be read: for a while in each turn of the event loop, so that timers, HTTP and live
 * messages do not wait for all that a hundred sockets have received.
 */
export class ReadingTime {
  readonly #now: () => number
  /** When the first packet of this turn was read. */
  #begin: number | undefined
  #waiting = new Set<() => void>()

  /** @param now a monotonic clock, milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** @param resume called in the next turn, once, if there is none left in this one */
  isLeft(resume: () => void): boolean {
    const now = this.#now()
    if (this.#begin === undefined) {
      this.#begin = now
      setImmediate(() => this.#startTurn())
    }
    if (now - this.#begin < longest) return true
    this.#waiting.add(resume)
    return false
  }

  #startTurn(): void {
    this.#begin = undefined
    const waiting = this.#waiting
    this.#waiting = new Set()
    for (const resume of waiting) resume()
  }
}
