import { useEffect, useState } from 'preact/hooks'
import type { Api } from '../../api/http.ts'
import { fetchNewest, type ReadingRecord } from '../../api/records.ts'
import type { LatestValues } from '../latest-values.ts'
import { createTurns } from '../turns.ts'
import { trendHeight, trendPoints, trendWidth } from './trend.ts'

interface SparklineProps {
  readonly api: Api
  readonly thingId: string
  readonly resourceKey: string
  readonly record: ReadingRecord
  readonly values: LatestValues
}

const shownRecords = 40
/** Milliseconds between two records that are both seen as the latest one. */
const fastest = 200
/** Milliseconds without a record after which those of a burst are read: one request for a history of any length. */
const quiet = 1_000

/** A hundred rows at once must not keep the chart waiting for its points. */
const turns = createTurns(3)

/** The newest numbers of a resource, evenly spaced: how it moves, not when. */
export function Sparkline({ api, thingId, resourceKey, record, values }: SparklineProps) {
  const bursts = useBursts(values, resourceKey)
  const [past, setPast] = useState<readonly ReadingRecord[]>([])
  useEffect(() => {
    const abort = new AbortController()
    turns
      .take(abort.signal, () => fetchNewest(api, thingId, resourceKey, shownRecords, abort.signal))
      .then(
        records => setPast(before => joined(records.toReversed(), before)),
        // It is only decoration: the chart says what is wrong.
        () => {},
      )
    return () => abort.abort()
  }, [api, thingId, resourceKey, bursts])
  useEffect(() => setPast(before => joined(before, [record])), [record])

  const numbers = past.flatMap(({ value }) => (typeof value === 'number' ? [value] : []))
  if (numbers.length < 2) return <span class="trend-room" />
  return (
    <svg
      class="sparkline"
      width={trendWidth}
      height={trendHeight}
      viewBox={`0 0 ${trendWidth} ${trendHeight}`}
      aria-hidden="true"
    >
      <polyline points={trendPoints(numbers)} />
    </svg>
  )
}

/** How often records have come that `record` does not report one by one: late, or faster than it changes. */
function useBursts(values: LatestValues, resourceKey: string): number {
  const [bursts, setBursts] = useState(0)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let cameAt = Number.NEGATIVE_INFINITY
    let newest = ''
    const stop = values.listen(resourceKey, ({ datetime }) => {
      const isOneOfMany = performance.now() - cameAt < fastest || datetime < newest || timer !== undefined
      cameAt = performance.now()
      if (datetime > newest) newest = datetime
      if (!isOneOfMany) return
      clearTimeout(timer)
      timer = setTimeout(() => {
        timer = undefined
        setBursts(before => before + 1)
      }, quiet)
    })
    return () => {
      clearTimeout(timer)
      stop()
    }
  }, [values, resourceKey])
  return bursts
}

function joined(before: readonly ReadingRecord[], after: readonly ReadingRecord[]): readonly ReadingRecord[] {
  const newest = before.at(-1)?.datetime ?? ''
  return [...before, ...after.filter(({ datetime }) => datetime > newest)].slice(-shownRecords)
}
