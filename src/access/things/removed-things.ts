import { rest } from '../../core/async/retry-until.ts'
import { listDocuments } from '../../core/list-documents.ts'
import type { Nodes } from '../../core/nodes.ts'
import type { DocumentStore, RecordStore } from '../../core/ports.ts'
import { removedThingName, removedThingPrefix } from '../documents.ts'

/** How long what has failed waits, milliseconds. */
const retryAfter = 60_000

/**
 * Removes the data of removed things, one thing after another in the background, on one node at a time. A removal begins
 * with its document, put when the thing is unlisted, and ends with the document removed; one that is interrupted goes on
 * at the next start, or on another node. A write that was authorised before it and is appended behind it leaves records
 * that nobody can reach: no id is given out twice.
 */
export class RemovedThings {
  readonly #documents: DocumentStore
  readonly #records: RecordStore
  readonly #giveUp: () => Promise<void>
  #waking = new AbortController()

  constructor(documents: DocumentStore, records: RecordStore, nodes: Pick<Nodes, 'lead'>) {
    this.#documents = documents
    this.#records = records
    this.#giveUp = nodes.lead('removals', stop => this.#work(stop))
  }

  /** To be called when the document of a removal is in the store, whichever node has put it. */
  wake(): void {
    this.#waking.abort()
  }

  /** Finishes the removal under way; those that wait are left to the next start, or to another node. */
  async close(): Promise<void> {
    await this.#giveUp()
  }

  async #work(stop: AbortSignal): Promise<void> {
    stop.addEventListener('abort', () => this.wake(), { once: true })
    while (!stop.aborted) {
      // What comes while they are listed may not be among them.
      this.#waking = new AbortController()
      await this.#removeAll(stop).catch(() => {})
      await rest(retryAfter, this.#waking.signal)
    }
  }

  async #removeAll(stop: AbortSignal): Promise<void> {
    for await (const [thingId] of listDocuments(this.#documents, removedThingPrefix)) {
      if (stop.aborted) return
      // Nobody waits for it, and its document stays.
      await this.#remove(thingId).catch(() => {})
    }
  }

  async #remove(thingId: string): Promise<void> {
    await this.#records.removeThing(thingId)
    await this.#documents.transact([removedThingName(thingId)], () => ({
      put: { [removedThingName(thingId)]: null },
      result: undefined,
      purpose: 'essential',
    }))
  }
}
