type Labels = Readonly<Record<string, string>>

/**
 * Values of one series of a Prometheus histogram, at a cost that every write can afford: prom-client's own looks its labels
 * up by their text at each `observe`, which takes ten times as long.
 */
export class Distribution {
  readonly #bounds: readonly number[]
  readonly #labels: Labels
  /** By bucket; the last one is without a bound. */
  readonly #counts: Float64Array
  #sum = 0

  /**
   * @param bounds of the buckets, upwards, ascending
   * @param labels which no other series of the histogram has
   */
  constructor(bounds: readonly number[], labels: Labels = {}) {
    this.#bounds = bounds
    this.#labels = labels
    this.#counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    const bounds = this.#bounds
    let bucket = 0
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1
    this.#sum += value
  }

  /** In the exposition format a bucket counts what is in the smaller ones, too. @param name of the histogram */
  samples(name: string) {
    const labels = this.#labels
    let count = 0
    const buckets = [...this.#counts].map((inBucket, place) => {
      count += inBucket
      const le = this.#bounds[place]?.toString() ?? '+Inf'
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count }
    })
    const sum = { metricName: `${name}_sum`, labels, value: this.#sum }
    return [...buckets, sum, { metricName: `${name}_count`, labels, value: count }]
  }
}
