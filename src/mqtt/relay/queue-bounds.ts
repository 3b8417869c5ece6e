import type { DocumentStore } from '../../core/ports.ts'
import { type QueuedMessage, topicQueueOf } from './documents.ts'

/** What a client that is away is owed at most; beyond it the oldest messages are dropped (contract §7.10). */
export const maximumQueued = { messages: 10_000, bytes: 16 * 1024 * 1024 }
/** Of that, how much is left then: all has to be looked through to drop any. */
const leftShare = 0.9
const pageSize = 100

interface Size {
  messages: number
  bytes: number
}

interface QueueBoundsParts {
  /** Whether the client is connected here: then its outbox is the bound. */
  readonly isConnected: (clientId: string) => boolean
  readonly onDropped: (messages: number) => void
}

/** Drops the oldest of what sessions are owed whose clients do not come back. */
export class QueueBounds {
  readonly #documents: DocumentStore
  readonly #parts: QueueBoundsParts
  /** By client id: at least what there is, of those that were owed something since the process began. */
  readonly #sizes = new Map<string, Size>()
  readonly #trimming = new Set<string>()

  constructor(documents: DocumentStore, parts: QueueBoundsParts) {
    this.#documents = documents
    this.#parts = parts
  }

  /** A message of so many bytes is put. */
  note(clientId: string, bytes: number): void {
    const size = this.#sizes.get(clientId) ?? { messages: maximumQueued.messages, bytes: 0 }
    size.messages++
    size.bytes += bytes
    this.#sizes.set(clientId, size)
    if (!isOver(size) || this.#trimming.has(clientId) || this.#parts.isConnected(clientId)) return
    this.#trimming.add(clientId)
    this.#trim(clientId)
      // It is tried again with the next message.
      .catch(() => {})
      .finally(() => this.#trimming.delete(clientId))
  }

  forget(clientId: string): void {
    this.#sizes.delete(clientId)
  }

  async #trim(clientId: string): Promise<void> {
    const size: Size = { messages: 0, bytes: 0 }
    // What is published from here on counts as well.
    this.#sizes.set(clientId, size)
    const oldest: [name: string, bytes: number][] = []
    const prefix = topicQueueOf(clientId)
    for (let after = prefix; ; ) {
      const page = await this.#documents.list(prefix, { after, limit: pageSize })
      for (const [name, message] of page) {
        const bytes = ((message as QueuedMessage).payload.length / 4) * 3
        oldest.push([name, bytes])
        size.messages++
        size.bytes += bytes
      }
      const last = page.at(-1)
      if (!last || page.length < pageSize) break
      after = last[0]
    }
    const put: Record<string, null> = {}
    if (!isOver(size)) return
    for (const [name, bytes] of oldest) {
      if (!isOver(size, leftShare)) break
      put[name] = null
      size.messages--
      size.bytes -= bytes
    }
    await this.#documents.put(put)
    this.#parts.onDropped(Object.keys(put).length)
  }
}

function isOver({ messages, bytes }: Size, share = 1): boolean {
  return messages > maximumQueued.messages * share || bytes > maximumQueued.bytes * share
}
