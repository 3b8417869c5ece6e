/** A place in a queue. */
export class Turn {
  readonly #onDone: () => void
  #before: Turn | undefined
  #isDone = false
  /** Whoever waits for this one. */
  #next = () => {}

  /** @param before undefined: nobody is */
  constructor(before: Turn | undefined, onDone: () => void) {
    this.#before = before
    this.#onDone = onDone
  }

  /** Resolves when the one before is done; undefined: it is, or nobody was. Never rejects. To be called once. */
  wait(): Promise<void> | undefined {
    const before = this.#before
    if (!before || before.#isDone) return undefined
    return new Promise(resolve => {
      before.#next = resolve
    })
  }

  /** Lets the next one go on. Can be called more than once. */
  done(): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#before = undefined
    this.#onDone()
    this.#next()
  }
}

/**
 * Writes of one connection, each of which looks up its credential on its own: they go on to the store one after
 * another, in the order in which they arrived (contract §4, order).
 */
export class Turns {
  #newest: Turn | undefined
  #taken = 0

  /** Whether everyone is done: who comes now and hands over at once needs no turn. */
  get isFree(): boolean {
    return this.#taken === 0
  }

  take(): Turn {
    this.#taken++
    this.#newest = new Turn(this.#newest, () => {
      this.#taken--
    })
    return this.#newest
  }
}
