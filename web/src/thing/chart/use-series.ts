import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../../api/http.ts'
import type { SignedIn } from '../../session/signed-in.ts'
import type { LatestValues } from '../latest-values.ts'
import { mostPoints } from './interval.ts'
import { loadSeries } from './load-series.ts'
import { type Series, since, withRecord } from './series.ts'
import { edgesOf, type TimeWindow } from './window.ts'

export interface SeriesProps {
  readonly signedIn: SignedIn
  readonly thingId: string
  readonly resourceKey: string
  readonly values: LatestValues
}

interface ShownSeries {
  readonly series: Series
  /** What to say in place of points: that they are on their way, that there are none, or why. */
  readonly state: string | undefined
  /** All was read, and there is no number in it. */
  readonly isEmpty: boolean
}

/** Milliseconds without a move: a pinch moves with every frame. */
const settleDelay = 150

/**
 * The points of the window that is shown: read when the window or the resource changes, and when the connection is
 * back, since what was missed meanwhile is only there; live records are put in as they come.
 */
export function useSeries(props: SeriesProps & { readonly shown: TimeWindow }): ShownSeries {
  const { signedIn, thingId, resourceKey, values, shown } = props
  const { api, live } = signedIn
  const [series, setSeries] = useState<Series>({ points: [] })
  const [state, setState] = useState<string | undefined>('Loading…')
  // While the connection is lost there is nothing to read: what is shown stays.
  const connected = useRef(0)
  if (live.state.value.kind === 'connected') connected.current = live.state.value.since
  const connectedSince = connected.current
  const isCrowded = series.interval === undefined && series.points.length > 2 * mostPoints
  const { span, to } = shown

  useEffect(() => {
    const abort = new AbortController()
    const missed: [time: number, value: number][] = []
    let isLoaded = false
    const timer = setTimeout(load, series.points.length === 0 ? 0 : settleDelay)

    async function load(): Promise<void> {
      try {
        const { from } = edgesOf(shown, Date.now())
        const query = { thingId, key: resourceKey, from, span, ...(to === undefined ? {} : { to }) }
        const loaded = await loadSeries(api, query, abort.signal)
        if (abort.signal.aborted) return
        isLoaded = true
        setSeries(missed.reduce((joined, [time, value]) => withRecord(joined, time, value), loaded))
        setState(undefined)
      } catch (error) {
        if (abort.signal.aborted) return
        setState(error instanceof ApiError ? error.message : 'The points could not be read.')
      }
    }

    const stop = values.listen(resourceKey, ({ datetime, value }) => {
      if (typeof value !== 'number') return
      const time = Date.parse(datetime)
      const edges = edgesOf(shown, Date.now())
      if (time < edges.from || (to !== undefined && time >= to)) return
      if (!isLoaded) missed.push([time, value])
      setSeries(before => since(withRecord(before, time, value), edges.from))
    })
    return () => {
      clearTimeout(timer)
      abort.abort()
      stop()
    }
  }, [api, values, thingId, resourceKey, span, to, connectedSince, isCrowded])

  const isEmpty = state === undefined && series.points.length === 0
  return { series, isEmpty, state: isEmpty ? 'No numbers in this range of time.' : state }
}
