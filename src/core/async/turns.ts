export class Turn {
  readonly #onDone: () => void
  #before: Turn | undefined
  #isDone = false
  /** Resumes the next turn if it is waiting. */
  #next = () => {}

  /** @param before the previous turn; undefined if this is the first one */
  constructor(before: Turn | undefined, onDone: () => void) {
    this.#before = before
    this.#onDone = onDone
  }

  /** Resolves when the previous turn is done; undefined if there is no turn to wait for. Never rejects. Call this once. */
  wait(): Promise<void> | undefined {
    const before = this.#before
    if (!before || before.#isDone) return undefined
    return new Promise(resolve => {
      before.#next = resolve
    })
  }

  /** Ends this turn and resumes the next one. Further calls have no effect. */
  done(): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#before = undefined
    this.#onDone()
    this.#next()
  }
}

/** Keeps the writes of a connection in order of arrival (contract §4.3), although their credentials are looked up concurrently. */
export class Turns {
  #newest: Turn | undefined
  #taken = 0

  /** Whether all turns are done. If so, a write needs no turn unless its credential is still being looked up. */
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
