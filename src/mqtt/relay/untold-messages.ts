import type { DocumentStore } from '../../core/ports.ts'
import { type MessagePlace, placeIn } from './documents.ts'

/** How much later than in the store a message may come, milliseconds. */
const patience = 5_000

export interface UntoldMessagesParts {
  readonly documents: Pick<DocumentStore, 'get'>
  /** Whether what the store has is still being read: then it may come yet. */
  readonly isReading: () => boolean
  /** One has not come. */
  readonly onMissed: () => void
  readonly onFailed: (error: unknown) => void
}

/**
 * Messages of other nodes that the store has for a client which is connected here. They come by another way, on which they may be
 * lost: the other node may be killed between the two.
 */
export class UntoldMessages {
  readonly #parts: UntoldMessagesParts
  /** By name, since when it is known, by the monotonic clock. */
  readonly #waiting = new Map<string, number>()
  /** By broker, order of the newest that has come: those of one come in their order. */
  readonly #newest = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(parts: UntoldMessagesParts) {
    this.#parts = parts
  }

  /** The store has got it from another node, or has lost it. */
  stored(name: string): void {
    if (this.#isClosed || this.#hasCome(name)) return
    this.#waiting.set(name, performance.now())
    this.#wait()
  }

  /** It has come, on whichever way. */
  came({ order, brokerId }: MessagePlace): void {
    this.#newest.set(brokerId, Math.max(order, this.#newest.get(brokerId) ?? 0))
    for (const name of this.#waiting.keys()) {
      if (!this.#hasCome(name)) break
      this.#waiting.delete(name)
    }
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #hasCome(name: string): boolean {
    const { order, brokerId } = placeIn(name)
    return order <= (this.#newest.get(brokerId) ?? 0)
  }

  #wait(): void {
    const [since] = this.#waiting.values()
    if (since === undefined || this.#timer || this.#isClosed) return
    const left = since + patience - performance.now()
    this.#timer = setTimeout(() => void this.#look().catch(this.#parts.onFailed), left)
  }

  /** @throws ThingwireError of the store */
  async #look(): Promise<void> {
    const { documents, isReading, onMissed } = this.#parts
    try {
      if (isReading()) for (const name of this.#waiting.keys()) this.#waiting.set(name, performance.now())
      for (const [name, since] of this.#waiting) {
        if (performance.now() < since + patience) break
        this.#waiting.delete(name)
        // What has been acknowledged, or dropped, is not missed.
        const isMissed = !this.#hasCome(name) && (await documents.get(name)) !== undefined
        if (isMissed && !this.#isClosed) return onMissed()
      }
    } finally {
      this.#timer = undefined
      this.#wait()
    }
  }
}
