/** Maximum fraction of elapsed time by which one clock may run slower than another clock. */
const drift = 0.001
/** Maximum milliseconds for which a time from Redis is used: its clock may be set back, or another server may take over. */
const longest = 10_000

/** A lower bound of Redis' clock, computed from times in replies. It is behind by at most the delay of the fastest recent reply. */
export class RedisClock {
  /** Lower bound, at the time `#at`, of Redis' clock minus the monotonic clock, milliseconds. */
  #offset = Number.NEGATIVE_INFINITY
  #at = 0
  #heardAt = Number.NEGATIVE_INFINITY

  /** Whether `hear` was called in the last 10 s, and `forget` has not been called since. */
  get isKnown(): boolean {
    return performance.now() - this.#heardAt < longest
  }

  /** Called as soon as a reply arrives. @param time the time by Redis' clock in the reply, microseconds */
  hear(time: number): void {
    const now = performance.now()
    const offset = time / 1_000 - now
    if (!this.isKnown || now - this.#at > longest || offset >= this.#offset - drift * (now - this.#at)) {
      this.#offset = offset
      this.#at = now
    }
    this.#heardAt = now
  }

  /** Called when the connection is lost, since the next connection may be to another server. */
  forget(): void {
    this.#heardAt = Number.NEGATIVE_INFINITY
  }

  /** A lower bound of Redis' clock, microseconds. @param time by the monotonic clock (`performance.now()`), now or later */
  earliestAt(time: number): number {
    return Math.floor((time + this.#offset - drift * (time - this.#at)) * 1_000)
  }
}
