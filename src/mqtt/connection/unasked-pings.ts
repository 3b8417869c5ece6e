/**
 * When PINGRESP is sent unasked: a client whose PINGREQ lies behind writes that are not read, because of a limit of ours, would take
 * the connection for dead (contract §9).
 */
export class UnaskedPings {
  /** Milliseconds; half of the keep-alive, since some clients wait no longer for an answer than from one PINGREQ to the next. */
  readonly #interval: number
  #answeredAt = 0
  #isBehind = false

  /** @param keepAlive seconds, as in CONNECT; 0: the client sends no PINGREQ for it */
  constructor(keepAlive: number) {
    this.#interval = keepAlive === 0 ? Number.POSITIVE_INFINITY : keepAlive * 500
  }

  /** @param now when a PINGREQ was read; milliseconds, of any clock that only goes forward */
  answered(now: number): void {
    this.#answeredAt = now
  }

  /**
   * To be called every half second or more often.
   *
   * @param isLimited the client is not read at the moment
   * @param isIdle nothing of it waits, read or unread
   */
  isDue(isLimited: boolean, isIdle: boolean, now: number): boolean {
    if (isLimited && !this.#isBehind) {
      this.#isBehind = true
      this.#answeredAt = now
    }
    if (!isLimited && isIdle) this.#isBehind = false
    if (!this.#isBehind || now - this.#answeredAt < this.#interval) return false
    this.#answeredAt = now
    return true
  }
}
