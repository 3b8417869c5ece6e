import type { Document, DocumentStore } from '../core/ports.ts'
import { type SeenDocument, seenName, thingName } from './documents.ts'

/** How often the times are written to the store, milliseconds: a write of a thing must not cost two on disk. */
const flushInterval = 60_000
const thingsPerTransaction = 250

/** When each thing was last seen, on whichever node. What has not reached the store is lost with the process: at most a minute of it. */
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
    const document = (await this.#documents.get(seenName(thingId))) as SeenDocument | undefined
    return latest(this.#pending.get(thingId), document?.at)
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
    const seenNames = times.map(([thingId]) => seenName(thingId))
    await this.#documents.transact([...names, ...seenNames], found => {
      const put: Record<string, Document> = {}
      for (const [index, [thingId, at]] of times.entries()) {
        const known = found[names.length + index] as SeenDocument | undefined
        // A thing that was removed in the meantime must leave nothing behind; another node may have seen it later.
        if (found[index] && latest(at, known?.at) === at) put[seenName(thingId)] = { at }
      }
      return { put, result: undefined, purpose: 'upkeep' }
    })
  }
}

function latest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter(time => time !== undefined)
  return known.length > 0 ? Math.max(...known) : undefined
}
