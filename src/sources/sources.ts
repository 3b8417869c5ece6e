import type { SourceMessage, SourceMessages, SourcePrincipal, TakenMessage } from '../access/access.ts'
import { principalName } from '../access/principal.ts'
import type { Ticket } from '../core/async/ticket.ts'
import { OpenSource, type SourcesParts } from './open-source.ts'

interface Opening {
  readonly opening: Promise<OpenSource>
  /** Set when `opening` has resolved. */
  opened: OpenSource | undefined
  /** Messages that came before: later ones must not overtake them. */
  waiting: number
}

/**
 * Reads the messages of sources (contract §7.12).
 *
 * ```
 *  MQTT, HTTP ── take ──► format: readings, facts, what is unread ──► thing of each device ──► ingest: a write for each thing
 *                                 │                                                    └─► `$meta` of what is described
 *                                 └─► facts: documents, so that every node and the next start know them
 * ```
 */
export class Sources implements SourceMessages {
  readonly #parts: SourcesParts
  readonly #open = new Map<string, Opening>()
  readonly #stop: (() => void)[]

  constructor(parts: SourcesParts) {
    this.#parts = parts
    this.#stop = [
      // A source that was changed is opened again with its new formats.
      parts.access.onRevoke(({ principals, all }) => {
        for (const sourceId of this.#open.keys())
          if (all || principals.has(principalName({ kind: 'source', sourceId }))) this.#open.delete(sourceId)
      }),
      parts.nodes.onDocuments(names => {
        if (!names) this.#open.clear()
        // Without what another node was taught, it would stay as it is.
        else
          for (const [sourceId, entry] of this.#open)
            entry.opening.then(source => source.hear(names)).catch(() => this.#close(sourceId, entry))
      }),
    ]
  }

  take(source: SourcePrincipal, message: SourceMessage, ticket: Ticket<TakenMessage>): void {
    const { sourceId } = source
    const entry = this.#open.get(sourceId) ?? this.#openSource(source)
    if (entry.opened && entry.waiting === 0) entry.opened.take(message, ticket)
    else {
      entry.waiting++
      const take = (opened: OpenSource) => {
        entry.waiting--
        opened.take(message, ticket)
      }
      entry.opening.then(take, (error: unknown) => ticket.reject(error))
    }
  }

  #openSource(source: SourcePrincipal): Opening {
    const opening = OpenSource.open(source, this.#parts)
    const entry: Opening = { opening, opened: undefined, waiting: 0 }
    this.#open.set(source.sourceId, entry)
    opening.then(
      opened => {
        entry.opened = opened
      },
      // A failure of the store must not stay.
      () => this.#close(source.sourceId, entry),
    )
    return entry
  }

  #close(sourceId: string, entry: Opening): void {
    if (this.#open.get(sourceId) === entry) this.#open.delete(sourceId)
  }

  close(): void {
    for (const stop of this.#stop) stop()
  }
}
