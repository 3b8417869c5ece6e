import type { Document, DocumentStore } from '../core/ports.ts'
import { type SeenDocument, seenName, thingName } from './documents.ts'

/** How often the times are written to the store, milliseconds: a write of a thing must not cost two on disk. */
const flushInterval = 60_000
const thingsPerTransaction = 250

/** When each thing was last seen. What has not reached the store is lost with the process: at most a minute of it. */
export class LastSeen {
  readonly #documents: DocumentStore
  /** Times by thing id that the store does not have yet. */
  readonly #pending = new Map<string, number>()
  readonly #timer: NodeJS.Timeout
  #flushing: Promise<void> | undefined

  constructor(documents: DocumentStore) {
    this.#documents = documents
    this.#timer = setInterval(() => void this.#flush(), flushInterval)
    this.#timer.unref()
  }

  note(thingId: string): void {
    this.#pending.set(thingId, Date.now())
  }

  /** @returns milliseconds since the epoch, undefined if never */
  async read(thingId: string): Promise<number | undefined> {
    const pending = this.#pending.get(thingId)
    if (pending !== undefined) return pending
    const document = (await this.#documents.get(seenName(thingId))) as SeenDocument | undefined
    return document?.at
  }

  forget(thingId: string): void {
    this.#pending.delete(thingId)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#flushing
    await this.#flush()
  }

  #flush(): Promise<void> {
    this.#flushing ??= this.#write([...this.#pending]).finally(() => {
      this.#flushing = undefined
    })
    return this.#flushing
  }

  async #write(times: readonly [string, number][]): Promise<void> {
    for (let start = 0; start < times.length; start += thingsPerTransaction) {
      const part = times.slice(start, start + thingsPerTransaction)
      try {
        await this.#writePart(part)
      } catch {
        // Kept in memory for the next time: a store that fails is told of by the writes it refuses.
        return
      }
      for (const [thingId, at] of part) if (this.#pending.get(thingId) === at) this.#pending.delete(thingId)
    }
  }

  async #writePart(times: readonly [string, number][]): Promise<void> {
    const names = times.map(([thingId]) => thingName(thingId))
    await this.#documents.transact(names, things => {
      const put: Record<string, Document> = {}
      for (const [index, [thingId, at]] of times.entries()) {
        // A thing that was removed in the meantime must leave nothing behind.
        if (things[index]) put[seenName(thingId)] = { at }
      }
      return { put, result: undefined }
    })
  }
}
