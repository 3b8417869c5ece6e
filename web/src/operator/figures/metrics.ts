/** The labels that distinguish a series. */
export type Labels = Readonly<Record<string, string>>

interface Sample {
  readonly labels: Labels
  readonly value: number
}

/** A sample of `GET /metrics`. Contains the metrics of the service, but not of the process. */
export class Metrics {
  /** Time of the request, milliseconds since the epoch. */
  readonly at: number
  /** Identifies the node and its run. Counters begin at zero in each run. */
  readonly run: number
  readonly #samples = new Map<string, Sample[]>()

  /** @param text metrics in the Prometheus text format 0.0.4 */
  constructor(text: string, at: number) {
    this.at = at
    for (const [, name = '', labels = '', value = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)) {
      if (!name.startsWith('thingwire_') && name !== runName) continue
      const samples = this.#samples.get(name) ?? []
      samples.push({ labels: parseLabels(labels), value: Number(value.replace('Inf', 'Infinity')) })
      this.#samples.set(name, samples)
    }
    this.run = this.sum(runName) ?? 0
  }

  /** The sum of all series with these labels; undefined if there is no such series. */
  sum(name: string, labels: Labels = {}): number | undefined {
    const samples = this.#with(name, labels)
    return samples.length === 0 ? undefined : samples.reduce((sum, { value }) => sum + value, 0)
  }

  /** Sums by the values of one label. */
  sumsBy(name: string, label: string): ReadonlyMap<string, number> {
    const sums = new Map<string, number>()
    for (const { labels, value } of this.#with(name, {})) {
      const key = labels[label] ?? ''
      sums.set(key, (sums.get(key) ?? 0) + value)
    }
    return sums
  }

  /** The value of a label of the first series. */
  labelOf(name: string, label: string): string | undefined {
    return this.#samples.get(name)?.[0]?.labels[label]
  }

  #with(name: string, wanted: Labels): readonly Sample[] {
    const samples = this.#samples.get(name) ?? []
    return samples.filter(({ labels }) =>
      Object.entries(wanted).every(([label, value]) => labels[label] === value),
    )
  }
}

const runName = 'process_start_time_seconds'

function parseLabels(text: string): Labels {
  const labels = text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)
  return Object.fromEntries(
    [...labels].map(([, name = '', value = '']) => [name, value.replace(/\\(.)/g, '$1')]),
  )
}
