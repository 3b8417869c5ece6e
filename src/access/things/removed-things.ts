import { rest } from '../../core/async/retry-until.ts'
import { listDocuments, listNames, removals } from '../../core/list-documents.ts'
import type { Nodes } from '../../core/nodes.ts'
import type { DocumentStore, RecordStore } from '../../core/ports.ts'
import {
  removedThingName,
  removedThingPrefix,
  sourceDevicesOf,
  sourceFactsOf,
  sourceNamesOf,
} from '../documents.ts'

/** How long to wait before a failed removal is tried again, milliseconds. */
const retryAfter = 60_000

/**
 * Removes the data of removed things and sources in the background, one after another, on one node at a time. A removal begins with
 * a document, which is put when the thing or source is removed from the registry, and ends when that document is removed.
 * An interrupted removal continues at the next start or on another node. A write that was authorised before the removal but
 * appended after it leaves records that nobody can reach, since ids are never reused.
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

  /** Call this when any node has put the document of a removal. */
  wake(): void {
    this.#waking.abort()
  }

  /** Finishes the present removal. Waiting removals are left to the next start or to another node. */
  async close(): Promise<void> {
    await this.#giveUp()
  }

  async #work(stop: AbortSignal): Promise<void> {
    stop.addEventListener('abort', () => this.wake(), { once: true })
    while (!stop.aborted) {
      // Created before the list is read, so that a removal that begins too late to be listed still ends the wait below.
      this.#waking = new AbortController()
      await this.#removeAll(stop).catch(() => {})
      await rest(retryAfter, this.#waking.signal)
    }
  }

  async #removeAll(stop: AbortSignal): Promise<void> {
    for await (const [thingId] of listDocuments(this.#documents, removedThingPrefix)) {
      if (stop.aborted) return
      // After a failure the document is still there, so the removal is tried again.
      await this.#remove(thingId).catch(() => {})
    }
  }

  async #remove(thingId: string): Promise<void> {
    await this.#records.removeThing(thingId)
    for (const prefix of [sourceDevicesOf(thingId), sourceNamesOf(thingId), sourceFactsOf(thingId)])
      for await (const removal of removals(listNames(this.#documents, prefix)))
        await this.#documents.put(removal, 'essential')
    await this.#documents.transact([removedThingName(thingId)], () => ({
      put: { [removedThingName(thingId)]: null },
      result: undefined,
      purpose: 'essential',
    }))
  }
}
