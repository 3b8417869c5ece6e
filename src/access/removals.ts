import { listDocuments } from '../core/list-documents.ts'
import type { DocumentStore, RecordStore } from '../core/ports.ts'
import { removalName, removalPrefix } from './documents.ts'

/**
 * Removes the data of removed things, one thing after another in the background. A removal begins with its
 * document, put when the thing is unlisted, and ends with the document removed; one that is interrupted or fails
 * goes on at the next start.
 */
export class Removals {
  readonly #documents: DocumentStore
  readonly #records: RecordStore
  #last: Promise<void> = Promise.resolve()
  #closed = false

  constructor(documents: DocumentStore, records: RecordStore) {
    this.#documents = documents
    this.#records = records
  }

  /** Begins what was left undone. */
  async resume(): Promise<void> {
    for await (const [thingId] of listDocuments(this.#documents, removalPrefix)) this.start(thingId)
  }

  /** The removal's document must be in the store. */
  start(thingId: string): void {
    this.#last = this.#last.then(() => this.#run(thingId))
  }

  /** Finishes the removal under way; those that wait are left to the next start. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#last
  }

  async #run(thingId: string): Promise<void> {
    if (this.#closed) return
    try {
      await this.#records.removeThing(thingId)
      await this.#documents.transact([removalName(thingId)], () => ({
        put: { [removalName(thingId)]: null },
        result: undefined,
      }))
    } catch {
      // Nobody waits for it, and its document stays: the next start tries again.
    }
  }
}
