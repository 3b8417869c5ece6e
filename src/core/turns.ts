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

  take(): Turn {
    const mine = this.#newest
    let done = () => {}
    this.#newest = new Promise(resolve => {
      done = resolve
    })
    return { mine, done: () => done() }
  }
}
