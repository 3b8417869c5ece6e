import { useState } from 'preact/hooks'
import { equals } from './document.ts'

/** How a value is written by a person. */
export interface Spelling {
  readonly write: (value: unknown) => string
  /** Undefined for a text that stands for no value. */
  readonly read: (text: string) => unknown
  /** What to write instead of such a text. */
  readonly wanted: string
}

/**
 * The properties of an input whose text stands for a value. A text that stands for none is kept as it is, marked
 * invalid, and keeps its form from being sent.
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
