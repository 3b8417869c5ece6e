import type { ServerProcess } from '../../test/helpers/server-process.ts'

/** What a server says of a stretch of time. */
export interface Stretch {
  /** Mean time of a commit, milliseconds. */
  readonly commit: number
  /** Delay of the event loop: half of the turns had less, 99 % had less, the longest; milliseconds. */
  readonly delays: readonly [p50: number, p99: number, longest: number]
}

const commitTime = 'thingwire_commit_duration_seconds_sum'
const commits = 'thingwire_commit_duration_seconds_count'
/** In what it says of the event loop: the time from one look at it to the next, milliseconds. */
const lookEvery = 10
const delays = ['p50', 'p99', 'max'].map(name => `nodejs_eventloop_lag_${name}_seconds`)

/** Reads `/metrics` at the begin of a stretch and at its end. */
export class MetricsReader {
  readonly #server: ServerProcess
  #atBegin = new Map<string, number>()
  #atEnd = new Map<string, number>()

  constructor(server: ServerProcess) {
    this.#server = server
  }

  /** From now on: the delays are those since the last scrape. */
  async begin(): Promise<void> {
    this.#atBegin = await this.#scrape()
  }

  async end(): Promise<void> {
    this.#atEnd = await this.#scrape()
  }

  sinceBegin(): Stretch {
    const since = (name: string) => this.#end(name) - (this.#atBegin.get(name) ?? 0)
    const [p50 = Number.NaN, p99 = Number.NaN, longest = Number.NaN] = delays.map(
      name => this.#end(name) * 1_000 - lookEvery,
    )
    return { commit: (since(commitTime) / since(commits)) * 1_000, delays: [p50, p99, longest] }
  }

  #end(name: string): number {
    return this.#atEnd.get(name) ?? Number.NaN
  }

  async #scrape(): Promise<Map<string, number>> {
    const response = await fetch(`${this.#server.url}/metrics`)
    if (!response.ok) throw new Error(`/metrics was answered with ${response.status}`)
    const lines = (await response.text()).split('\n').filter(line => line !== '' && !line.startsWith('#'))
    return new Map(
      lines.map(line => {
        const [name = '', value] = line.split(' ')
        return [name, Number(value)]
      }),
    )
  }
}
