import { useEffect, useState } from 'preact/hooks'
import { fetchNewest, type ReadingRecord } from '../../api/records.ts'
import type { SignedIn } from '../../session/signed-in.ts'
import { formatMoment } from '../../time/format.ts'
import type { LatestValues } from '../latest-values.ts'
import { RecordValue } from './record-value.tsx'

interface NewestRecordsProps {
  readonly signedIn: SignedIn
  readonly thingId: string
  readonly resourceKey: string
  readonly values: LatestValues
}

const shownRecords = 50

/** The newest records of a resource without numbers. */
export function NewestRecords({ signedIn, thingId, resourceKey, values }: NewestRecordsProps) {
  const [records, setRecords] = useState<readonly ReadingRecord[]>([])
  const latest = values.of(resourceKey)?.value
  const { api } = signedIn
  useEffect(() => {
    const abort = new AbortController()
    fetchNewest(api, thingId, resourceKey, shownRecords, abort.signal).then(setRecords, () => {})
    return () => abort.abort()
  }, [api, thingId, resourceKey, latest])
  const text = typeof latest?.value === 'string' ? latest.value.trim() : ''
  const isNumber = text !== '' && Number.isFinite(Number(text))
  return (
    <div class="scroll">
      {isNumber && (
        <p class="muted">
          These values are text, so there is no chart. Send the number without quotes:{' '}
          <code>"value":{text}</code>
        </p>
      )}
      <table>
        <caption>The newest {shownRecords} readings</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody>
          {records.map((record, at) => (
            <tr key={at}>
              <td class="time">{formatMoment(Date.parse(record.datetime))}</td>
              <td class="value">
                <RecordValue record={record} description={values.descriptionOf(resourceKey)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
