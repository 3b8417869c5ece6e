import { Counter, Gauge, type Registry } from 'prom-client'

type Labels = Readonly<Record<string, string>>

/** What a metric is when it is asked for. */
export type Sample = readonly [labels: Labels, value: number]

interface SampledParts {
  readonly name: string
  readonly help: string
  readonly labels?: readonly string[]
  /** Called at each scrape. */
  readonly read: () => Iterable<Sample> | Promise<Iterable<Sample>>
}

/** A counter that is kept elsewhere. */
export function sampledCounter(registry: Registry, { name, help, labels = [], read }: SampledParts): void {
  new Counter({
    name,
    help,
    labelNames: labels,
    registers: [registry],
    async collect() {
      const samples = await read()
      this.reset()
      for (const [labels, value] of samples) this.inc(labels, value)
    },
  })
}

/** A gauge of what is asked for; without a sample where there is none to give. */
export function sampledGauge(registry: Registry, { name, help, labels = [], read }: SampledParts): void {
  new Gauge({
    name,
    help,
    labelNames: labels,
    registers: [registry],
    async collect() {
      const samples = await read()
      this.reset()
      // Without labels prom-client sets it to 0.
      if (labels.length === 0) this.remove()
      for (const [labels, value] of samples) this.set(labels, value)
    },
  })
}

/** The one sample of a metric without labels; none where there is no value. */
export function only(value: number | undefined): readonly Sample[] {
  return value === undefined ? [] : [[{}, value]]
}
