import { rest } from '../core/async/retry-until.ts'

/** Limits the bytes that are sent to so many a second, in the order of the calls. */
export class ByteBudget {
  readonly #bytesPerSecond: number
  /** When the link is free again, by the monotonic clock. */
  #freeAt = 0

  /** @param bytesPerSecond Infinity: as many as there are */
  constructor(bytesPerSecond = Number.POSITIVE_INFINITY) {
    this.#bytesPerSecond = bytesPerSecond
  }

  /** Most bytes that are sent in one piece: those of a second, so that one thing does not keep the link for long. */
  get piece(): number {
    return this.#bytesPerSecond
  }

  /** Resolves when so many bytes may be sent. */
  async take(bytes: number, stop: AbortSignal): Promise<void> {
    if (this.#bytesPerSecond === Number.POSITIVE_INFINITY) return
    const now = performance.now()
    const from = Math.max(now, this.#freeAt)
    this.#freeAt = from + (bytes / this.#bytesPerSecond) * 1_000
    if (from > now) await rest(from - now, stop)
  }
}
