import type { Metric, Registry } from 'prom-client'

interface DistributionParts {
  readonly name: string
  readonly help: string
  /** Upper bounds of the buckets, ascending. */
  readonly bounds: readonly number[]
}

type Labels = Readonly<Record<string, string>>

/**
 * A Prometheus histogram that every write can afford: prom-client's own looks its labels up by their text at each
 * `observe`, which takes ten times as long.
 */
export class Distribution {
  readonly #parts: DistributionParts
  readonly #series: Series[] = []

  constructor(parts: DistributionParts) {
    this.#parts = parts
  }

  /** The values of these labels, which no other series has. */
  series(labels: Labels = {}): Series {
    const series = new Series(this.#parts, labels)
    this.#series.push(series)
    return series
  }

  registerIn(registry: Registry): void {
    const { name, help } = this.#parts
    const get = async () => ({
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      values: this.#series.flatMap(series => series.samples()),
    })
    // The registry asks nothing else of a metric.
    registry.registerMetric({ name, get } as unknown as Metric)
  }
}

/** Values of one series of a distribution. */
class Series {
  readonly #parts: DistributionParts
  readonly #labels: Labels
  /** By bucket; the last one is without a bound. */
  readonly #counts: Float64Array
  #sum = 0

  constructor(parts: DistributionParts, labels: Labels) {
    this.#parts = parts
    this.#labels = labels
    this.#counts = new Float64Array(parts.bounds.length + 1)
  }

  observe(value: number): void {
    const { bounds } = this.#parts
    let bucket = 0
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1
    this.#sum += value
  }

  /** In the exposition format a bucket counts what is in the smaller ones, too. */
  samples(): readonly object[] {
    const { name, bounds } = this.#parts
    const labels = this.#labels
    let count = 0
    const buckets = [...this.#counts].map((inBucket, place) => {
      count += inBucket
      return {
        metricName: `${name}_bucket`,
        labels: { ...labels, le: bounds[place]?.toString() ?? '+Inf' },
        value: count,
      }
    })
    const sum = { metricName: `${name}_sum`, labels, value: this.#sum }
    return [...buckets, sum, { metricName: `${name}_count`, labels, value: count }]
  }
}
