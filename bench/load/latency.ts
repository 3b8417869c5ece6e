import { createHistogram } from 'node:perf_hooks'

/** Microseconds. */
export interface Latency {
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

/** How long what was due in a stretch of time took. All times are milliseconds of `performance.now()`. */
export class LatencyRecorder {
  readonly #histogram = createHistogram()
  #begin = Number.POSITIVE_INFINITY
  #end = Number.POSITIVE_INFINITY

  begin(time: number): void {
    this.#begin = time
  }

  end(time: number): void {
    this.#end = time
  }

  /** @param since when it began, where that is later than when it was due */
  record(due: number, until: number, since = due): void {
    if (due < this.#begin || due >= this.#end) return
    this.#histogram.record(Math.max(1, Math.round((until - since) * 1_000)))
  }

  summary(): Latency {
    const { max } = this.#histogram
    const [p50, p99, p999] = [50, 99, 99.9].map(percent => this.#histogram.percentile(percent))
    return { p50: p50 ?? 0, p99: p99 ?? 0, p999: p999 ?? 0, max }
  }
}
