/** Time for packets in one turn of the event loop, milliseconds. The writes of one turn share a group commit. */
const longest = 6

/**
 * Limits the time in each turn of the event loop in which packets are read, for all connections together. So timers, HTTP and live
 * messages do not wait for all that a hundred sockets have received. A connection that finds no time left queues behind the others,
 * so none can take two turns in a row.
 */
export class ReadingTime {
  readonly #now: () => number
  /** When the newest packet was read. Asking the clock again would cost as much as reading a packet. */
  readAt = 0
  /** When this turn read its first packet. */
  #begin: number | undefined
  readonly #waiting = new Set<() => void>()

  /** @param now a monotonic clock, milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** @param resume called once in a later turn, if no time is left in this one */
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
