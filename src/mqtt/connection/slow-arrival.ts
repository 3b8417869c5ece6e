/** Milliseconds. */
const period = 60_000
/** Bytes: 1 KiB a second. */
const leastGrowth = 60 * 1024

/**
 * Whether what a peer has begun to send, a packet or a message, still comes: within each minute it is to be finished,
 * or to have grown by 60 KiB. Until it is whole it is held in memory, for as long as the peer likes. A modem that brings
 * 1 KiB a second brings the largest packet; a slower one, packets of what it brings in a minute.
 */
export class SlowArrival {
  #since: number | undefined
  #bytes = 0

  /** It is finished, or is not read at the moment: the minute begins anew. */
  restart(): void {
    this.#since = undefined
  }

  /**
   * To be called every second or more often.
   *
   * @param bytes of it that were received; undefined: nothing is begun
   * @param now milliseconds, of any clock that only goes forward
   */
  isOverdue(bytes: number | undefined, now: number): boolean {
    if (bytes === undefined) this.restart()
    else if (this.#since === undefined) this.#begin(bytes, now)
    else if (now - this.#since >= period) {
      if (bytes - this.#bytes < leastGrowth) return true
      this.#begin(bytes, now)
    }
    return false
  }

  #begin(bytes: number, now: number): void {
    this.#since = now
    this.#bytes = bytes
  }
}
