/** A place in a queue. */
export interface Turn {
  /** Resolves when everyone before is done. Never rejects. */
  readonly mine: Promise<void>
  /** Lets the next one go on. Can be called more than once. */
  done(): void
}

/**
 * Writes of one connection, each of which looks up its credential on its own: they go on to the store one after
 * another, in the order in which they arrived (contract §4, order).
 */
export class Turns {
  #newest: Promise<void> = Promise.resolve()
  #taken = 0

  /** Whether everyone is done: who comes now and hands over at once needs no turn. */
  get isFree(): boolean {
    return this.#taken === 0
  }

  take(): Turn {
    const mine = this.#newest
    let isDone = false
    let next = () => {}
    this.#newest = new Promise(resolve => {
      next = resolve
    })
    this.#taken++
    const done = () => {
      if (!isDone) this.#taken--
      isDone = true
      next()
    }
    return { mine, done }
  }
}
