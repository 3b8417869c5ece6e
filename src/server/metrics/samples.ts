import type { Metric, Registry } from 'prom-client'
import type { Distribution } from './distribution.ts'

/** One value of a metric at a scrape. */
export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number]

/** Called at each scrape. A number is one sample without labels; undefined is no sample. */
type Read = () => Samples | Promise<Samples>
type Samples = number | undefined | readonly Sample[]

/** Metrics by name. */
export type Metrics = Readonly<Record<string, MetricParts>>

interface MetricParts {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly values: (name: string) => Promise<readonly object[]>
}

export function counter(help: string, read: Read): MetricParts {
  return { type: 'counter', help, values: () => valuesOf(read) }
}

export function gauge(help: string, read: Read): MetricParts {
  return { type: 'gauge', help, values: () => valuesOf(read) }
}

async function valuesOf(read: Read): Promise<readonly object[]> {
  const found = (await read()) ?? []
  const samples = typeof found === 'number' ? [[{}, found] as const] : found
  return samples.map(([labels, value]) => ({ labels, value }))
}

export function histogram(help: string, series: readonly Distribution[]): MetricParts {
  return { type: 'histogram', help, values: async name => series.flatMap(each => each.samples(name)) }
}

export function register(registry: Registry, metrics: Metrics): void {
  for (const [name, { type, help, values }] of Object.entries(metrics)) {
    // The registry calls only `get` of a metric.
    const get = async () => ({ name, help, type, values: await values(name) })
    registry.registerMetric({ name, get } as unknown as Metric)
  }
}
