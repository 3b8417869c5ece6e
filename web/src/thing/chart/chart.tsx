import './chart.css'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { now, serverTime } from '../../time/clock.ts'
import { formatMomentNear, formatZone } from '../../time/format.ts'
import { describeSeries } from './describe.ts'
import { type ChartGestures, handleKey, listenToPointers } from './gestures.ts'
import { createPlot, type Plot } from './plot.ts'
import { PointReadout } from './point-readout.tsx'
import { PointsTable } from './points-table.tsx'
import { RangeButtons } from './range-buttons.tsx'
import { growthOf } from './series.ts'
import { type SeriesProps, useSeries } from './use-series.ts'
import { edgesOf, firstWindow, pan, type TimeWindow, windowAt, windowBetween, zoom } from './window.ts'

/** CSS pixels. */
const widthOfBar = 16

interface ChartProps extends SeriesProps {
  /** The window that the user chose; undefined before. */
  readonly chosen: TimeWindow | undefined
  readonly onChoose: (change: (before: TimeWindow | undefined) => TimeWindow) => void
}

/** A chart of the numbers of a resource over time. The right end is updated live. */
export function Chart({ signedIn, thingId, resourceKey, values, chosen, onChoose }: ChartProps) {
  const [first, setFirst] = useState(() => firstWindow(undefined, serverTime()))
  const shown = chosen ?? first
  const latestFirst = useRef(first)
  latestFirst.current = first
  const setShown = useCallback(
    (change: (before: TimeWindow) => TimeWindow) => onChoose(before => change(before ?? latestFirst.current)),
    [onChoose],
  )
  const [pointed, setPointed] = useState<number>()
  const [isTable, setIsTable] = useState(false)
  const element = useRef<HTMLDivElement>(null)
  const plot = useRef<Plot>(null)
  const [width, setWidth] = useState(0)
  const description = values.descriptionOf(resourceKey)
  const [showsValues, setShowsValues] = useState(false)
  const isGrowth = description.total === true && !showsValues
  const most = isGrowth ? Math.ceil(width / widthOfBar) : width
  const read = useSeries({ signedIn, thingId, resourceKey, values, shown, most })
  const { state, isEmpty } = read
  const series = useMemo(() => (isGrowth ? growthOf(read.series) : read.series), [read.series, isGrowth])

  const firstTime = state === undefined ? series.points[0]?.time : undefined
  const oldest = useRef<number>(undefined)
  useEffect(() => {
    if (chosen) return
    oldest.current ??= firstTime
    // The window becomes wider as the oldest shown point becomes older.
    return now.subscribe(time => {
      const next = firstWindow(oldest.current, time)
      setFirst(before => (before.span === next.span ? before : next))
    })
  }, [chosen, firstTime])

  const gestures = useMemo<ChartGestures>(
    () => ({
      zoom: (factor, centre) => setShown(before => zoom(before, factor, centre, serverTime())),
      pan: share => setShown(before => pan(before, share, serverTime())),
      toNow: () => setShown(({ span }) => ({ span })),
    }),
    [setShown],
  )

  useEffect(() => {
    if (!element.current) return
    const events = {
      onZoom: (from: number, to: number) => setShown(() => windowBetween(from, to, serverTime())),
      onPoint: setPointed,
      onWidth: setWidth,
    }
    const created = createPlot(element.current, events, isGrowth)
    plot.current = created
    const stop = listenToPointers(element.current, created.shareAt, gestures)
    return () => {
      stop()
      created.close()
    }
  }, [gestures, setShown, isGrowth])

  useEffect(() => {
    const { from, to } = edgesOf(shown, serverTime())
    plot.current?.draw(series, from, to)
  }, [series, shown])

  // A window that ends now moves every second.
  useEffect(() => {
    if (shown.to !== undefined) return
    return now.subscribe(time => {
      const { from, to } = edgesOf(shown, time)
      plot.current?.show(from, to)
    })
  }, [shown])

  function keyDown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (handleKey(event.key, gestures)) event.preventDefault()
  }

  const latest = Date.parse(values.of(resourceKey)?.value.datetime ?? '')
  const edges = edgesOf(shown, serverTime())
  const isElsewhere = latest < edges.from || latest >= edges.to
  const point = pointed === undefined ? undefined : series.points[pointed]
  return (
    <div class="chart">
      <RangeButtons
        {...{ signedIn, thingId, resourceKey, shown, gestures }}
        onShow={next => setShown(() => next)}
      />
      {description.total && (
        <div class="segments" role="group" aria-label="Show">
          <button type="button" aria-pressed={isGrowth} onClick={() => setShowsValues(false)}>
            Growth
          </button>
          <button type="button" aria-pressed={!isGrowth} onClick={() => setShowsValues(true)}>
            Counter
          </button>
        </div>
      )}
      <div
        class="chart-focus"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: its keys do what the buttons above do
        tabIndex={0}
        role="group"
        aria-label="Chart; arrows move it, + and − zoom, 0 returns to now"
        onKeyDown={keyDown}
      >
        {description.unit !== undefined && (
          <span class="chart-unit" aria-hidden="true">
            {description.unit}
          </span>
        )}
        <div
          ref={element}
          class="chart-plot"
          role="img"
          aria-label={describeSeries(resourceKey, description, series, isGrowth)}
        />
        {state !== undefined && (
          <p class="chart-state">
            {state}
            {isEmpty && isElsewhere && (
              <>
                {' '}
                <button
                  type="button"
                  onClick={() => setShown(before => windowAt(latest, before, serverTime()))}
                >
                  Newest: {formatMomentNear(latest, serverTime())}
                </button>
              </>
            )}
          </p>
        )}
      </div>
      <p class="chart-caption">
        <PointReadout {...{ point, series, description, isGrowth }} />
        <span>Times are in {formatZone(serverTime())}.</span>
        <button type="button" class="quiet" aria-expanded={isTable} onClick={() => setIsTable(!isTable)}>
          {isTable ? 'Hide table' : 'Show as table'}
        </button>
      </p>
      {isTable && <PointsTable {...{ series, description, isGrowth }} />}
    </div>
  )
}
