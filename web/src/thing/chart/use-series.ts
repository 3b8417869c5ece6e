import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../../api/http.ts'
import type { SignedIn } from '../../session/signed-in.ts'
import { serverTime } from '../../time/clock.ts'
import type { LatestValues } from '../latest-values.ts'
import { parseInterval } from './interval.ts'
import { loadSeries } from './load-series.ts'
import { NewestTask } from './newest-task.ts'
import { type Series, since, withRecord } from './series.ts'
import { edgesOf, type TimeWindow } from './window.ts'

export interface SeriesProps {
  readonly signedIn: SignedIn
  readonly thingId: string
  readonly resourceKey: string
  readonly values: LatestValues
}

interface Shown {
  readonly shown: TimeWindow
  /** Maximum number of points; 0 while it is not known. */
  readonly most: number
}

interface ShownSeries {
  readonly series: Series
  /** A message to show instead of points: loading, no numbers, or an error. */
  readonly state: string | undefined
  /** Whether the whole window was read and contains no number. */
  readonly isEmpty: boolean
}

const noPoints: Series = { points: [], interval: parseInterval('1ms') }

/**
 * The points of the shown window. They are read when the window, the number of points or the resource changes. They are
 * also read after a reconnect, because live records may have been missed. Live records are added as they arrive.
 */
export function useSeries(props: SeriesProps & Shown): ShownSeries {
  const { signedIn, thingId, resourceKey, values, shown, most } = props
  const { api, live } = signedIn
  const [series, setSeries] = useState<Series>(noPoints)
  const [state, setState] = useState<string | undefined>('Loading…')
  // The time of the last connect, so that the points are read again after a reconnect but not when the connection is lost.
  const connected = useRef(0)
  if (live.state.value.kind === 'connected') connected.current = live.state.value.since
  const connectedSince = connected.current
  const { span, to } = shown
  const loads = useRef<NewestTask | undefined>(undefined)
  /** Live records since the current request began; undefined without a request. */
  const missed = useRef<[time: number, value: number][] | undefined>(undefined)

  useEffect(() => {
    loads.current = new NewestTask()
    return () => loads.current?.close()
  }, [api, thingId, resourceKey])

  useEffect(() => {
    if (most > 0) loads.current?.run(load)

    async function load(signal: AbortSignal): Promise<void> {
      const came: [time: number, value: number][] = []
      missed.current = came
      try {
        const edges = edgesOf(shown, serverTime())
        const asked = { thingId, key: resourceKey, from: edges.from }
        // Clocks of devices may be ahead, so an equal range of the future is read too. Twice the points keep the intervals as long.
        const rest =
          to === undefined ? { to: edges.to + span, points: 2 * most } : { to: edges.to, points: most }
        const loaded = await loadSeries(api, { ...asked, ...rest }, signal)
        if (signal.aborted) return
        setSeries(came.reduce((joined, [time, value]) => withRecord(joined, time, value), loaded))
        setState(undefined)
      } catch (error) {
        if (signal.aborted) return
        setState(error instanceof ApiError ? error.message : 'The points could not be read.')
      } finally {
        if (missed.current === came) missed.current = undefined
      }
    }
  }, [api, thingId, resourceKey, span, to, most, connectedSince])

  useEffect(
    () =>
      values.listen(resourceKey, ({ datetime, value }) => {
        if (typeof value !== 'number') return
        const time = Date.parse(datetime)
        const edges = edgesOf(shown, serverTime())
        if (time < edges.from || (to !== undefined && time >= to)) return
        missed.current?.push([time, value])
        setSeries(before => since(withRecord(before, time, value), edges.from))
      }),
    [values, resourceKey, span, to],
  )

  const isEmpty = state === undefined && series.points.length === 0
  return { series, isEmpty, state: isEmpty ? 'No numbers in this range of time.' : state }
}
