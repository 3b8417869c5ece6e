import type { Metric, Registry } from 'prom-client'
import type { Distribution } from './distribution.ts'

/** What a metric is when it is asked for. */
export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number]

interface MetricParts {
  readonly name: string
  readonly help: string
}

interface SampledParts extends MetricParts {
  /** Called at each scrape. A number is a sample without labels; undefined: there is none to give. */
  readonly read: () => Samples | Promise<Samples>
}

type Samples = number | undefined | readonly Sample[]

/** A metric that is kept elsewhere. */
export function sampled(
  registry: Registry,
  type: 'counter' | 'gauge',
  { read, ...parts }: SampledParts,
): void {
  register(registry, type, parts, async () => {
    const found = (await read()) ?? []
    const samples = typeof found === 'number' ? [[{}, found] as const] : found
    return samples.map(([labels, value]) => ({ labels, value }))
  })
}

interface HistogramParts extends MetricParts {
  readonly series: readonly Distribution[]
}

export function histogram(registry: Registry, { series, ...parts }: HistogramParts): void {
  register(registry, 'histogram', parts, async () => series.flatMap(each => each.samples(parts.name)))
}

function register(
  registry: Registry,
  type: string,
  { name, help }: MetricParts,
  values: () => Promise<readonly object[]>,
): void {
  // The registry asks nothing else of a metric.
  const get = async () => ({ name, help, type, values: await values() })
  registry.registerMetric({ name, get } as unknown as Metric)
}
