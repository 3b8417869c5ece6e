import type { ReadingRecord } from '../../api/records.ts'
import { type Description, measured } from '../description.ts'

interface RecordValueProps {
  readonly record: ReadingRecord
  readonly description: Description
}

/** A value on one line, with the whole value as its title. A record without a value is a position. */
export function RecordValue({ record: { value, geo }, description }: RecordValueProps) {
  if (value === null && geo) {
    return (
      <span class="text">
        {geo.lat}, {geo.long}
      </span>
    )
  }
  const kind = typeof value === 'string' ? 'text' : typeof value === 'object' ? 'json' : 'scalar'
  const whole = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return (
    <span class={kind} title={whole}>
      {measured(value, description)}
    </span>
  )
}
