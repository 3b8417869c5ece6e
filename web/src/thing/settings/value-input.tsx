import { listSpelling, numberSpelling } from './spellings.ts'
import { useText } from './use-text.ts'

interface ValueInputProps {
  readonly id: string
  /** Any JSON value except an object. */
  readonly value: unknown
  readonly isReadOnly: boolean
  readonly onEdit: (value: unknown) => void
}

/** The input for a string, a number, a boolean or an array. */
export function ValueInput(props: ValueInputProps) {
  const { id, value, isReadOnly, onEdit } = props
  if (typeof value === 'boolean') {
    return (
      <input
        id={id}
        type="checkbox"
        checked={value}
        disabled={isReadOnly}
        onChange={event => onEdit(event.currentTarget.checked)}
      />
    )
  }
  if (typeof value === 'number') return <NumberInput {...props} />
  if (typeof value !== 'string') return <ListInput {...props} />
  return (
    <input id={id} value={value} readOnly={isReadOnly} onInput={event => onEdit(event.currentTarget.value)} />
  )
}

function NumberInput({ id, value, isReadOnly, onEdit }: ValueInputProps) {
  return (
    <input id={id} inputMode="decimal" readOnly={isReadOnly} {...useText(value, numberSpelling, onEdit)} />
  )
}

function ListInput({ id, value, isReadOnly, onEdit }: ValueInputProps) {
  return (
    <textarea
      id={id}
      class="json"
      rows={2}
      spellcheck={false}
      readOnly={isReadOnly}
      {...useText(value, listSpelling, onEdit)}
    />
  )
}
