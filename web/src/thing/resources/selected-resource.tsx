import { useEffect, useRef, useState } from 'preact/hooks'
import { lazily } from '../../lazily.tsx'
import type { SignedIn } from '../../session/signed-in.ts'
import { Age, Moment } from '../../time/moment.tsx'
import type { TimeWindow } from '../chart/window.ts'
import type { LatestValues } from '../latest-values.ts'
import { RecordValue } from './record-value.tsx'

const Chart = lazily(() => import('../chart/chart.tsx').then(({ Chart }) => Chart))
/** Loads the code of the chart in advance, because most things need it. */
export const preloadChart = Chart.preload

const DescribeResource = lazily(() =>
  import('./describe-resource.tsx').then(({ DescribeResource }) => DescribeResource),
)

const NewestRecords = lazily(() => import('./newest-records.tsx').then(({ NewestRecords }) => NewestRecords))

interface SelectedResourceProps {
  readonly signedIn: SignedIn
  readonly thingId: string
  readonly resourceKey: string
  readonly values: LatestValues
  /** Whether the user chose the resource. */
  readonly wasChosen: boolean
  /** The range of time that the user chose. It stays the same for the next resource. */
  readonly chosen: TimeWindow | undefined
  readonly onChoose: (change: (before: TimeWindow | undefined) => TimeWindow) => void
}

/** One resource: its latest value, and a chart if the value is a number, else the newest records. */
export function SelectedResource(props: SelectedResourceProps) {
  const section = useRef<HTMLElement>(null)
  // After a choice in the table, this section may be outside the visible part of the page.
  useEffect(() => {
    if (props.wasChosen) section.current?.scrollIntoView({ block: 'nearest' })
  }, [props.wasChosen])
  const isChart = useRef(false)
  const [isDescribed, setDescribed] = useState(false)
  const { api, principal } = props.signedIn
  const mayWrite = principal.kind !== 'session' || principal.access === 'write'
  const record = props.values.of(props.resourceKey)?.value
  if (!record) return null
  const description = props.values.descriptionOf(props.resourceKey)
  const { name = props.resourceKey } = description
  const milliseconds = Date.parse(record.datetime)
  const isObject = typeof record.value === 'object' && record.value !== null
  // If a sensor sometimes writes "unavailable", the chart stays.
  isChart.current ||= typeof record.value === 'number'
  return (
    <section ref={section} class="card selected-resource" aria-label={name}>
      <div class="card-head">
        <h2>{name}</h2>
        {name !== props.resourceKey && <code class="muted">{props.resourceKey}</code>}
        {!isObject && (
          <output class="latest" aria-live="off">
            <RecordValue record={record} description={description} />
          </output>
        )}
        <span class="muted">
          <Age milliseconds={milliseconds} /> (<Moment milliseconds={milliseconds} />)
        </span>
        {mayWrite && (
          <button
            type="button"
            class="quiet"
            aria-expanded={isDescribed}
            title="Its name, unit and decimals"
            onClick={() => setDescribed(!isDescribed)}
          >
            Describe
          </button>
        )}
      </div>
      {isDescribed && (
        <DescribeResource
          {...{ api, description }}
          thingId={props.thingId}
          resourceKey={props.resourceKey}
          onDone={() => setDescribed(false)}
        />
      )}
      {isObject && (
        <output aria-live="off">
          <pre class="scroll">{JSON.stringify(record.value, null, 2)}</pre>
        </output>
      )}
      {isChart.current ? <Chart {...props} /> : <NewestRecords {...props} />}
    </section>
  )
}
