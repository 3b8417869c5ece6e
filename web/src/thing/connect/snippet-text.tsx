import { CopyButton } from '../../copy-button.tsx'
import type { Snippet } from './snippet.ts'

interface SnippetTextProps {
  readonly snippet: Snippet
  readonly text: string
  /** Undefined if the server has no TLS. */
  readonly mqttsPort: number | undefined
}

/** A program, what it needs, and what its delivery promises. */
export function SnippetText({ snippet: { name, needs, delivery, tls }, text, mqttsPort }: SnippetTextProps) {
  return (
    <div class="snippet">
      <p>{needs}</p>
      <CopyButton text={text} label={`Copy ${name}`} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled with the arrow keys. */}
      <pre tabIndex={0}>{text}</pre>
      <p>{delivery}</p>
      {tls !== undefined && mqttsPort !== undefined && (
        <p>
          With TLS: port {mqttsPort}. {tls}
        </p>
      )}
    </div>
  )
}
