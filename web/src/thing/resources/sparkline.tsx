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
/** Minimum milliseconds between two records so that each is reported as the latest record. */
const fastest = 200
/** Milliseconds without a record after which the records of a burst are read, with one request. */
const quiet = 1_000

/** Limits concurrent reads, so that the points of the chart do not wait for the reads of a hundred rows. */
const turns = createTurns(3)

/** Draws the newest numbers of a resource at equal distances, whatever their datetimes. */
export function Sparkline({ api, thingId, resourceKey, record, values }: SparklineProps) {
  const bursts = useBursts(values, resourceKey)
  const [past, setPast] = useState<readonly ReadingRecord[]>([])
  useEffect(() => {
    const abort = new AbortController()
    turns
      .take(abort.signal, () => fetchNewest(api, thingId, resourceKey, shownRecords, abort.signal))
      .then(
        records => setPast(before => joined(records.toReversed(), before)),
        // Ignored, because the chart shows the error.
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

/** Number of bursts: groups of records that `record` does not report one by one, because they are late or too fast. */
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
