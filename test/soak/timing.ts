import { createHistogram } from 'node:perf_hooks'

/** When messages came, in milliseconds. */
export class Timing {
  /** Longest time between one and the next. */
  maximumGap = 0
  readonly #lags = createHistogram()
  #last: number | undefined

  /** @param sentAt `performance.now()` when its write was sent */
  take(sentAt: number, now = performance.now()): void {
    if (this.#last !== undefined) this.maximumGap = Math.max(this.maximumGap, now - this.#last)
    this.#last = now
    this.#lags.record(Math.max(1, Math.round((now - sentAt) * 1_000)))
  }

  get count(): number {
    return this.#lags.count
  }

  /** Time between sending and coming, at a percentile from 0 to 100. */
  lag(percentile: number): number {
    return this.#lags.percentile(percentile) / 1_000
  }

  get maximumLag(): number {
    return this.#lags.max / 1_000
  }
}
