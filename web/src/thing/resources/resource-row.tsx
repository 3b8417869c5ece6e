import type { SignedIn } from '../../session/signed-in.ts'
import { Age } from '../../time/moment.tsx'
import type { LatestValues } from '../latest-values.ts'
import { RecordValue } from './record-value.tsx'
import { Sparkline } from './sparkline.tsx'

interface ResourceRowProps {
  readonly signedIn: SignedIn
  readonly thingId: string
  readonly values: LatestValues
  readonly resourceKey: string
  readonly isSelected: boolean
  readonly onSelect: (key: string) => void
}

/** A resource in the table. Choosing the row shows the resource over time. */
export function ResourceRow(props: ResourceRowProps) {
  const { signedIn, thingId, values, resourceKey, isSelected, onSelect } = props
  const record = values.of(resourceKey)?.value
  if (!record) return null
  const description = values.descriptionOf(resourceKey)
  return (
    <tr class={isSelected ? 'selected' : undefined}>
      <th scope="row">
        <button
          type="button"
          class="link"
          title={`${description.name ?? ''} ${resourceKey}`.trim()}
          aria-pressed={isSelected}
          onClick={() => onSelect(resourceKey)}
        >
          {description.name ?? resourceKey}
          {description.name !== undefined && <span class="muted"> {resourceKey}</span>}
        </button>
      </th>
      <td class="value">
        {/* Not announced by screen readers, because the value may change ten times a second. */}
        <output aria-live="off">
          <RecordValue record={record} description={description} />
        </output>
      </td>
      <td class="trend">
        {typeof record.value === 'number' && (
          <Sparkline api={signedIn.api} {...{ thingId, resourceKey, record, values }} />
        )}
      </td>
      <td class="numeric muted">
        <Age milliseconds={Date.parse(record.datetime)} />
      </td>
    </tr>
  )
}
