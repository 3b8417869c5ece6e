import { rest } from '../../core/async/retry-until.ts'
import { listDocuments } from '../../core/list-documents.ts'
import type { DocumentStore } from '../../core/ports.ts'

/** Milliseconds. */
const shortestInterval = 60_000
/** How much longer than a count took it is before the next one. */
const restFactor = 100
/** How long whoever asks waits for a count that is under way, milliseconds. */
const patience = 500

/**
 * How many documents there are of a kind. The store has to list them, so they are counted when someone asks, once a minute
 * at most, and less often where that takes long.
 */
export class Counted {
  readonly #documents: Pick<DocumentStore, 'list'>
  readonly #prefix: string
  #count: number | undefined
  #counting: Promise<void> | undefined
  /** When it may be counted again, by the monotonic clock. */
  #dueAt = 0

  constructor(documents: Pick<DocumentStore, 'list'>, prefix: string) {
    this.#documents = documents
    this.#prefix = prefix
  }

  /** The newest count; undefined while the first is under way, or while the store is away. Never rejects. */
  async read(): Promise<number | undefined> {
    if (performance.now() >= this.#dueAt) {
      this.#counting ??= this.#recount().finally(() => {
        this.#counting = undefined
      })
    }
    const waited = new AbortController()
    await Promise.race([this.#counting, rest(patience, waited.signal)])
    waited.abort()
    return this.#count
  }

  async #recount(): Promise<void> {
    const begin = performance.now()
    this.#count = await this.#countAll().catch(() => undefined)
    const end = performance.now()
    this.#dueAt =
      this.#count === undefined ? end : end + Math.max(shortestInterval, restFactor * (end - begin))
  }

  async #countAll(): Promise<number> {
    let count = 0
    for await (const _ of listDocuments(this.#documents, this.#prefix)) count++
    return count
  }
}
