import { useId, useState } from 'preact/hooks'

interface AddFieldProps {
  /** Names of the enclosing objects, separated by dots; empty for the document itself. */
  readonly where: string
  readonly isTaken: (name: string) => boolean
  readonly onAdd: (name: string, value: unknown) => void
}

const kinds = {
  text: { label: 'Text', empty: '' },
  number: { label: 'Number', empty: 0 },
  boolean: { label: 'Yes or no', empty: false },
  list: { label: 'List', empty: [] },
  group: { label: 'Group of fields', empty: {} },
} as const

/** Adds a member to an object of the settings. */
export function AddField({ where, isTaken, onAdd }: AddFieldProps) {
  const id = useId()
  const [name, setName] = useState('')
  const [kind, setKind] = useState<keyof typeof kinds>('text')
  const [problem, setProblem] = useState('')

  function add(): void {
    const found = problemOf(name, isTaken)
    setProblem(found)
    if (found !== '') return
    onAdd(name, kinds[kind].empty)
    setName('')
  }

  return (
    <details class="add-field">
      <summary>Add a field{where !== '' && ` to ${where}`}</summary>
      <label for={`${id}-name`}>Name</label>
      <input
        id={`${id}-name`}
        value={name}
        autocomplete="off"
        aria-describedby={`${id}-problem`}
        onInput={event => setName(event.currentTarget.value)}
        onKeyDown={event => {
          if (event.key !== 'Enter') return
          // Otherwise, Enter would submit the surrounding form.
          event.preventDefault()
          add()
        }}
      />
      <label for={`${id}-kind`}>Kind</label>
      <select
        id={`${id}-kind`}
        value={kind}
        onChange={event => setKind(event.currentTarget.value as keyof typeof kinds)}
      >
        {Object.entries(kinds).map(([value, { label }]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <button type="button" onClick={add}>
        Add
      </button>
      <p id={`${id}-problem`} role="alert" class="problem">
        {problem}
      </p>
    </details>
  )
}

/** The problem with the name of a member (contract §5); empty if there is no problem. */
function problemOf(name: string, isTaken: (name: string) => boolean): string {
  if (name === '') return 'Give it a name.'
  if (isTaken(name)) return 'There is a field of this name already.'
  if (new TextEncoder().encode(name).length > 128) return 'Give it a name of at most 128 bytes.'
  if (['__proto__', 'constructor', 'prototype'].includes(name))
    return 'Give it another name: this one is reserved.'
  return ''
}
