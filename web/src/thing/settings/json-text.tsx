import { useId } from 'preact/hooks'
import type { Document } from './document.ts'
import { documentProblem, documentSpelling } from './spellings.ts'
import { useText } from './use-text.ts'

interface JsonTextProps {
  readonly document: Document
  readonly isReadOnly: boolean
  readonly onEdit: (document: Document) => void
}

/** The whole settings document as text. */
export function JsonText({ document, isReadOnly, onEdit }: JsonTextProps) {
  const properties = useText(document, documentSpelling, value => onEdit(value as Document))
  const id = useId()
  const problem = documentProblem(properties.value)
  return (
    <>
      <textarea
        class="json"
        aria-label="Settings as JSON"
        rows={Math.min(24, properties.value.split('\n').length + 1)}
        spellcheck={false}
        readOnly={isReadOnly}
        aria-describedby={id}
        {...properties}
      />
      <p id={id} role="alert" class="problem">
        {problem}
      </p>
    </>
  )
}
