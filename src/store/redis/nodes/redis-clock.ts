/** By how much a clock may run slower than another one, of the time that passes. */
const drift = 0.001
/** Milliseconds after which what was heard is not relied on: Redis' clock may have been set back, or another server has taken over. */
const longest = 10_000

/**
 * What a node knows of Redis' clock by the replies that carry its time: an earliest reading, late by no more than the way of
 * the quickest reply of late.
 */
export class RedisClock {
  /** Of Redis' clock less the monotonic one at `#at`, at least; milliseconds. */
  #offset = Number.NEGATIVE_INFINITY
  #at = 0
  #heardAt = Number.NEGATIVE_INFINITY

  /** Whether it was heard of in the last 10 s, and not forgotten since. */
  get isKnown(): boolean {
    return performance.now() - this.#heardAt < longest
  }

  /** @param time of Redis, microseconds; to be called when the reply is there */
  hear(time: number): void {
    const now = performance.now()
    const offset = time / 1_000 - now
    if (!this.isKnown || now - this.#at > longest || offset >= this.#offset - drift * (now - this.#at)) {
      this.#offset = offset
      this.#at = now
    }
    this.#heardAt = now
  }

  /** The connection was lost: the next one may lead to another server. */
  forget(): void {
    this.#heardAt = Number.NEGATIVE_INFINITY
  }

  /**
   * What Redis' clock shows at the earliest, microseconds.
   *
   * @param time by the monotonic clock (`performance.now()`), now or later
   */
  earliestAt(time: number): number {
    return Math.floor((time + this.#offset - drift * (time - this.#at)) * 1_000)
  }
}
