import { useEffect, useRef } from 'preact/hooks'
import { lazily } from '../../lazily.tsx'
import type { SignedIn } from '../../session/signed-in.ts'
import { Age, Moment } from '../../time/moment.tsx'
import type { TimeWindow } from '../chart/window.ts'
import type { LatestValues } from '../latest-values.ts'
import { RecordValue } from './record-value.tsx'

const Chart = lazily(() => import('../chart/chart.tsx').then(({ Chart }) => Chart))
/** Fetches the code of the chart, which most things need. */
export const preloadChart = Chart.preload

const NewestRecords = lazily(() => import('./newest-records.tsx').then(({ NewestRecords }) => NewestRecords))

interface SelectedResourceProps {
  readonly signedIn: SignedIn
  readonly thingId: string
  readonly resourceKey: string
  readonly values: LatestValues
  /** By the person, and not for want of a choice. */
  readonly wasChosen: boolean
  /** The stretch of time that the person chose; it is kept from one resource to the next. */
  readonly chosen: TimeWindow | undefined
  readonly onChoose: (change: (before: TimeWindow | undefined) => TimeWindow) => void
}

/** One resource: its latest value, and a chart if that is a number, else its newest records. */
export function SelectedResource(props: SelectedResourceProps) {
  const section = useRef<HTMLElement>(null)
  // Who chose it in the table may have scrolled to where this is not in sight.
  useEffect(() => {
    if (props.wasChosen) section.current?.scrollIntoView({ block: 'nearest' })
  }, [props.wasChosen])
  const isChart = useRef(false)
  const record = props.values.of(props.resourceKey)?.value
  if (!record) return null
  const milliseconds = Date.parse(record.datetime)
  const isObject = typeof record.value === 'object' && record.value !== null
  // A sensor that writes "unavailable" now and then keeps its chart.
  isChart.current ||= typeof record.value === 'number'
  return (
    <section ref={section} class="card selected-resource" aria-label={props.resourceKey}>
      <div class="card-head">
        <h2>{props.resourceKey}</h2>
        {!isObject && (
          <output class="latest" aria-live="off">
            <RecordValue record={record} />
          </output>
        )}
        <span class="muted">
          <Age milliseconds={milliseconds} /> (<Moment milliseconds={milliseconds} />)
        </span>
      </div>
      {isObject && (
        <output aria-live="off">
          <pre class="scroll">{JSON.stringify(record.value, null, 2)}</pre>
        </output>
      )}
      {isChart.current ? <Chart {...props} /> : <NewestRecords {...props} />}
    </section>
  )
}
