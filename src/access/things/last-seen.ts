import type { Document, DocumentStore } from '../../core/ports.ts'
import { type SeenDocument, seenName, thingName } from '../documents.ts'

/** How often the times are stored, milliseconds. Storing them for every write would double the writes to disk. */
const flushInterval = 60_000
const thingsPerTransaction = 250

interface Times {
  readonly at?: number | undefined
  readonly written?: number | undefined
}

/** When each thing was last seen and last written to, on any node. If a process is killed, times of the last minute are lost. */
export class LastSeen {
  readonly #documents: DocumentStore
  /** Times that are not stored yet, by thing id. Two maps of numbers, since one map would need a new object for each write. */
  readonly #seen = new Map<string, number>()
  readonly #written = new Map<string, number>()
  readonly #timer: NodeJS.Timeout
  #flushing: Promise<void> | undefined

  constructor(documents: DocumentStore) {
    this.#documents = documents
    this.#timer = setInterval(() => void this.#flush(), flushInterval)
    this.#timer.unref()
  }

  /** Notes that the thing was seen now. */
  note(thingId: string): void {
    this.#seen.set(thingId, Date.now())
  }

  /** @param at receipt time of a stored write, milliseconds */
  noteWrite(thingId: string, at: number): void {
    this.#written.set(thingId, at)
  }

  /** @returns times in milliseconds since the epoch */
  async read(thingId: string): Promise<Times> {
    const document = (await this.#documents.get(seenName(thingId))) as SeenDocument | undefined
    return {
      at: latest(this.#seen.get(thingId), document?.at),
      written: latest(this.#written.get(thingId), document?.written),
    }
  }

  forget(thingId: string): void {
    this.#seen.delete(thingId)
    this.#written.delete(thingId)
  }

  /** Stores the times, unless the store refuses them. Never rejects. */
  async keep(): Promise<void> {
    await this.#flushing
    await this.#flush()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.keep()
  }

  #flush(): Promise<void> {
    const things = new Set([...this.#seen.keys(), ...this.#written.keys()])
    this.#flushing ??= this.#write([...things]).finally(() => {
      this.#flushing = undefined
    })
    return this.#flushing
  }

  async #write(things: readonly string[]): Promise<void> {
    for (let start = 0; start < things.length; start += thingsPerTransaction) {
      const part = things
        .slice(start, start + thingsPerTransaction)
        .map(
          thingId => [thingId, { at: this.#seen.get(thingId), written: this.#written.get(thingId) }] as const,
        )
      try {
        await this.#writePart(part)
      } catch {
        // The next flush tries again. This failure needs no report: if the store has failed, writes of records report it.
        return
      }
      for (const [thingId, { at, written }] of part) {
        if (this.#seen.get(thingId) === at) this.#seen.delete(thingId)
        if (this.#written.get(thingId) === written) this.#written.delete(thingId)
      }
    }
  }

  async #writePart(times: readonly (readonly [string, Times])[]): Promise<void> {
    const names = times.map(([thingId]) => thingName(thingId))
    const seenNames = times.map(([thingId]) => seenName(thingId))
    await this.#documents.transact([...names, ...seenNames], found => {
      const put: Record<string, Document> = {}
      for (const [index, [thingId, own]] of times.entries()) {
        const known = found[names.length + index] as SeenDocument | undefined
        // Nothing may be put for a thing that was removed meanwhile. Another node may have stored a later time.
        const seen = joined(own, known)
        const isNews = seen.at !== known?.at || seen.written !== known?.written
        if (found[index] && isNews) put[seenName(thingId)] = seen
      }
      return { put, result: undefined, purpose: 'keep' }
    })
  }
}

function joined(times: Times, known: SeenDocument = {}): SeenDocument {
  const at = latest(times.at, known.at)
  const written = latest(times.written, known.written)
  return { ...(at === undefined ? {} : { at }), ...(written === undefined ? {} : { written }) }
}

function latest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter(time => time !== undefined)
  return known.length > 0 ? Math.max(...known) : undefined
}
