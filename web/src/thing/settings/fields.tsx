import { useEffect, useId, useState } from 'preact/hooks'
import { AddField } from './add-field.tsx'
import { equals, isObject, type Path, valueAt } from './document.ts'
import type { Draft } from './draft.ts'
import { ValueInput } from './value-input.tsx'

interface FieldsProps {
  readonly draft: Draft
  /** The object whose members are shown; absent for the whole document. */
  readonly path?: Path
  readonly isReadOnly: boolean
  /** @param value undefined removes the member */
  readonly onEdit: (path: Path, value: unknown) => void
  readonly onTakeStored: (path: Path) => void
}

/** The members of an object in the settings, each in a field for its type. Nested objects are shown in the same way. */
export function Fields({ path = [], ...props }: FieldsProps) {
  const { draft, isReadOnly, onEdit } = props
  const names = new Set([valueAt(draft.stored, path), valueAt(draft.edited, path)].flatMap(namesOf))
  const [added, setAdded] = useState<string>()
  return (
    <div class="fields">
      {[...names].map(name => (
        <Field key={name} {...props} path={[...path, name]} isNew={name === added} />
      ))}
      {!isReadOnly && (
        <AddField
          where={path.join('.')}
          isTaken={name => valueAt(draft.edited, [...path, name]) !== undefined}
          onAdd={(name, value) => {
            onEdit([...path, name], value)
            setAdded(name)
          }}
        />
      )}
    </div>
  )
}

interface FieldProps extends FieldsProps {
  readonly path: Path
  /** Whether the user has just added the field, and so will fill it next. */
  readonly isNew: boolean
}

function Field({ path, isNew, ...props }: FieldProps) {
  const { draft, isReadOnly, onEdit, onTakeStored } = props
  const id = useId()
  useEffect(() => {
    if (isNew) document.getElementById(id)?.focus()
  }, [id, isNew])
  const name = path.at(-1) ?? ''
  const fullName = path.join('.')
  const stored = valueAt(draft.stored, path)
  const value = valueAt(draft.edited, path)
  const remove = !isReadOnly && (
    <button
      type="button"
      class="quiet"
      aria-label={`Remove ${fullName}`}
      onClick={() => onEdit(path, undefined)}
    >
      Remove
    </button>
  )

  if (value === undefined) {
    return (
      <div class="field">
        <span class="name">{name}</span>
        <span class="muted">is removed when you save</span>
        <button type="button" aria-label={`Keep ${fullName}`} onClick={() => onTakeStored(path)}>
          Keep
        </button>
      </div>
    )
  }
  if (isObject(value)) {
    return (
      <fieldset class="group" id={id} tabIndex={-1}>
        <legend>
          {name} {remove}
        </legend>
        <Fields {...props} path={path} />
      </fieldset>
    )
  }
  return (
    <div class="field">
      <label class="name" for={id}>
        {name}
      </label>
      <ValueInput id={id} value={value} isReadOnly={isReadOnly} onEdit={changed => onEdit(path, changed)} />
      {!equals(stored, value) && <span class="changed">not saved</span>}
      {remove}
    </div>
  )
}

function namesOf(value: unknown): string[] {
  return isObject(value) ? Object.keys(value) : []
}
