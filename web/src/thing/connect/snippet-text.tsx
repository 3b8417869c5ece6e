import { CopyButton } from '../../controls/copy-button.tsx'
import type { Snippet } from './snippet.ts'

interface SnippetTextProps {
  readonly snippet: Snippet
  readonly text: string
  /** Undefined if MQTT over TLS is not served. */
  readonly mqttsPort: number | undefined
}

/** A program, with its requirements and its delivery guarantee. */
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
