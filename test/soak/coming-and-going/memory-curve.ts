import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { MemoryUse } from './memory-preload.ts'

export interface MemorySample extends MemoryUse {
  /** Seconds since the first. */
  readonly at: number
}

/** What a process takes, from time to time. */
export class MemoryCurve {
  readonly samples: MemorySample[] = []
  readonly #path: string
  readonly #start = performance.now()

  /** @param path of the socket of memory-preload.ts */
  constructor(path: string) {
    this.#path = path
  }

  async take(): Promise<void> {
    const use = JSON.parse(await text(connect(this.#path))) as MemoryUse
    this.samples.push({ at: (performance.now() - this.#start) / 1_000, ...use })
  }

  /** Bytes resident at the end: the mean of the last tenth. */
  get atEnd(): number {
    const last = this.samples.slice(-Math.ceil(this.samples.length / 10))
    return last.reduce((sum, { resident }) => sum + resident, 0) / last.length
  }

  /** Bytes a minute by which it grew over the second half: the slope of the line with the least squares. */
  get growth(): number {
    const half = this.samples.slice(Math.floor(this.samples.length / 2))
    const mean = (of: (sample: MemorySample) => number) =>
      half.reduce((sum, sample) => sum + of(sample), 0) / half.length
    const [at, resident] = [mean(sample => sample.at), mean(sample => sample.resident)]
    const rise = mean(sample => (sample.at - at) * (sample.resident - resident))
    const run = mean(sample => (sample.at - at) ** 2)
    return (rise / run) * 60
  }
}
