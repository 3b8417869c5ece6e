/** Maximum time for reading packets in one turn of the event loop, milliseconds. Writes read in one turn share a group commit. */
const longest = 6

/**
 * Limits the time spent on reading packets in each turn of the event loop, for all connections together. Otherwise timers, HTTP
 * and live messages would wait until all received packets are read. If no time is left, connections queue up and take turns.
 */
export class ReadingTime {
  readonly #now: () => number
  /** When the latest packet was read, milliseconds. Use this value: reading the clock costs as much time as reading a packet. */
  readAt = 0
  /** When the first packet of this turn was read, milliseconds. */
  #begin: number | undefined
  readonly #waiting = new Set<() => void>()

  /** @param now a monotonic clock, milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** @param resume called once in a later turn, if no time is left in this turn */
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
