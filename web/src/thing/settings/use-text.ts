import { useState } from 'preact/hooks'
import { equals } from './document.ts'

/** How a value is shown and typed as text. */
export interface Spelling {
  readonly write: (value: unknown) => string
  /** Undefined if the text is not a valid value. */
  readonly read: (text: string) => unknown
  /** A hint for the user, shown if the text is not a valid value. */
  readonly wanted: string
}

/**
 * The properties of an input for a value. A text that is not a valid value is kept unchanged and marked as invalid, and its form
 * cannot be submitted.
 */
export function useText(value: unknown, { write, read, wanted }: Spelling, onEdit: (value: unknown) => void) {
  const [typed, setTyped] = useState(() => write(value))
  const meant = read(typed)
  const text = meant === undefined || equals(meant, value) ? typed : write(value)
  return {
    value: text,
    'aria-invalid': meant === undefined,
    onInput(event: { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }): void {
      const { currentTarget } = event
      const next = read(currentTarget.value)
      setTyped(currentTarget.value)
      currentTarget.setCustomValidity(next === undefined ? wanted : '')
      if (next !== undefined) onEdit(next)
    },
  }
}
