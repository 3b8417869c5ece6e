import type { SourceMessage, SourceMessages, SourcePrincipal, TakenMessage } from '../access/access.ts'
import { principalName } from '../access/principal.ts'
import { OpenSource, type SourcesParts } from './open-source.ts'

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
  readonly #open = new Map<string, Promise<OpenSource>>()
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
          for (const [sourceId, opening] of this.#open)
            opening.then(source => source.hear(names)).catch(() => this.#close(sourceId, opening))
      }),
    ]
  }

  async take(source: SourcePrincipal, message: SourceMessage): Promise<TakenMessage> {
    const { sourceId } = source
    const present = this.#open.get(sourceId)
    const opening = present ?? OpenSource.open(source, this.#parts)
    if (!present) {
      this.#open.set(sourceId, opening)
      // A failure of the store must not stay.
      opening.catch(() => this.#close(sourceId, opening))
    }
    return await (await opening).take(message)
  }

  #close(sourceId: string, opening: Promise<OpenSource>): void {
    if (this.#open.get(sourceId) === opening) this.#open.delete(sourceId)
  }

  close(): void {
    for (const stop of this.#stop) stop()
  }
}
