import type { Labels, Metrics } from './metrics.ts'

/** The increase of a counter per second from `before` to `now`; undefined if it is unknown. */
export function rate(
  now: Metrics,
  before: Metrics | undefined,
  name: string,
  labels?: Labels,
): number | undefined {
  if (!isSameRun(now, before)) return undefined
  const increase = (now.sum(name, labels) ?? 0) - (before.sum(name, labels) ?? 0)
  const seconds = (now.at - before.at) / 1000
  return seconds > 0 ? Math.max(0, increase) / seconds : undefined
}

/**
 * The quantile of the values that a histogram counted from `before` to `now`, computed like `histogram_quantile` of Prometheus;
 * undefined if there are no values.
 *
 * @param share 0..1
 */
export function quantile(
  share: number,
  now: Metrics,
  before: Metrics | undefined,
  name: string,
  labels: Labels = {},
): number | undefined {
  if (!isSameRun(now, before)) return undefined
  const bucket = `${name}_bucket`
  const counted = [...now.sumsBy(bucket, 'le').keys()].map(le => ({
    bound: le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le),
    count: (now.sum(bucket, { ...labels, le }) ?? 0) - (before.sum(bucket, { ...labels, le }) ?? 0),
  }))
  counted.sort((a, b) => a.bound - b.bound)
  const wanted = share * (counted.at(-1)?.count ?? 0)
  if (wanted <= 0) return undefined
  let lower = { bound: 0, count: 0 }
  for (const upper of counted) {
    if (upper.count >= wanted) {
      // Of values above the largest bound, only that bound is known.
      if (upper.bound === Number.POSITIVE_INFINITY) return lower.bound
      const part = (wanted - lower.count) / (upper.count - lower.count)
      return lower.bound + (upper.bound - lower.bound) * part
    }
    lower = upper
  }
  return undefined
}

/** Counters begin at zero in each run, and each node has different counters. */
function isSameRun(now: Metrics, before: Metrics | undefined): before is Metrics {
  return before !== undefined && now.run === before.run
}
