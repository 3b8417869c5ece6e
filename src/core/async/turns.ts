export class Turn {
  readonly #onDone: () => void
  #before: Turn | undefined
  #isDone = false
  /** Resumes the next turn, if it waits. */
  #next = () => {}

  /** @param before undefined: this is the first turn */
  constructor(before: Turn | undefined, onDone: () => void) {
    this.#before = before
    this.#onDone = onDone
  }

  /** Resolves when the turn before is done; undefined: it is, or there is none. Never rejects. Call it once. */
  wait(): Promise<void> | undefined {
    const before = this.#before
    if (!before || before.#isDone) return undefined
    return new Promise(resolve => {
      before.#next = resolve
    })
  }

  /** Starts the next turn. May be called again. */
  done(): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#before = undefined
    this.#onDone()
    this.#next()
  }
}

/** Keeps the writes of one connection in order of arrival (contract §4.3) although each looks up its credential concurrently. */
export class Turns {
  #newest: Turn | undefined
  #taken = 0

  /** Whether all turns are done: a write that needs no await then needs no turn. */
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
