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
  /** Of the chart, CSS pixels; 0 as long as it is not known. */
  readonly width: number
}

interface ShownSeries {
  readonly series: Series
  /** What to say in place of points: that they are on their way, that there are none, or why. */
  readonly state: string | undefined
  /** All was read, and there is no number in it. */
  readonly isEmpty: boolean
}

const noPoints: Series = { points: [], interval: parseInterval('1ms') }

/**
 * The points of the window that is shown, at most one for each pixel: asked for when the window, its width or the resource changes,
 * and when the connection is back, since what was missed meanwhile is only there; live records are put in as they come.
 */
export function useSeries(props: SeriesProps & Shown): ShownSeries {
  const { signedIn, thingId, resourceKey, values, shown, width } = props
  const { api, live } = signedIn
  const [series, setSeries] = useState<Series>(noPoints)
  const [state, setState] = useState<string | undefined>('Loading…')
  // While the connection is lost there is nothing to read: what is shown stays.
  const connected = useRef(0)
  if (live.state.value.kind === 'connected') connected.current = live.state.value.since
  const connectedSince = connected.current
  const { span, to } = shown
  const loads = useRef<NewestTask | undefined>(undefined)
  /** Live records since the request under way began; undefined without one. */
  const missed = useRef<[time: number, value: number][] | undefined>(undefined)

  useEffect(() => {
    loads.current = new NewestTask()
    return () => loads.current?.close()
  }, [api, thingId, resourceKey])

  useEffect(() => {
    if (width > 0) loads.current?.run(load)

    async function load(signal: AbortSignal): Promise<void> {
      const came: [time: number, value: number][] = []
      missed.current = came
      try {
        const edges = edgesOf(shown, serverTime())
        const asked = { thingId, key: resourceKey, from: edges.from }
        // Clocks of devices may be ahead: as much of the future, with as many points, makes points of the same length.
        const rest =
          to === undefined ? { to: edges.to + span, points: 2 * width } : { to: edges.to, points: width }
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
  }, [api, thingId, resourceKey, span, to, width, connectedSince])

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
