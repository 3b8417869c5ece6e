/** Milliseconds. */
const longestPause = 0.5
/** Milliseconds; what the system is late by is about as much. */
const shortestPause = 0.1

/**
 * Lets packets gather for a moment after some were received: without that the process wakes for each packet of a server that
 * sends them one by one, and costs as much as the server.
 */
export class Gathering {
  readonly #pause: number
  readonly #cell = new Int32Array(new SharedArrayBuffer(4))
  #isTurnOver = true

  /** @param pause milliseconds, no longer than the server has work for */
  constructor(pause = shortestPause) {
    this.#pause = Math.min(longestPause, pause)
  }

  /** To be called when what was received has been answered. The pause comes when all sockets had their turn. */
  onAnswered(): void {
    if (!this.#isTurnOver || this.#pause < shortestPause) return
    this.#isTurnOver = false
    setImmediate(this.#endTurn)
  }

  readonly #endTurn = (): void => {
    this.#isTurnOver = true
    Atomics.wait(this.#cell, 0, 0, this.#pause)
  }
}
