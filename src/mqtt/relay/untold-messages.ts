import { type MessageId, placeIn, placeTextIn } from './documents.ts'

/** How much later than in the store a message of another node may come, milliseconds. */
const patience = 5_000

/**
 * Messages of other nodes that the store has for clients which are connected here. They come by another way, on which they may be
 * lost: the other node may be killed between the two.
 */
export class UntoldMessages {
  readonly #onMissed: (names: readonly string[]) => void
  /** By place, since when the message is known, by the monotonic clock, and the names of what is owed of it. */
  readonly #waiting = new Map<string, { readonly since: number; readonly names: string[] }>()
  /** By broker, order of the newest that has come: those of one come in their order. */
  readonly #newest = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined

  /** @param onMissed called with the names of what is owed of a message that has not come */
  constructor(onMissed: (names: readonly string[]) => void) {
    this.#onMissed = onMissed
  }

  /** The store has got an entry for a client of this node from another one, or has lost it. */
  stored(name: string): void {
    if (this.#hasCome(placeIn(name))) return
    const place = placeTextIn(name)
    const waiting = this.#waiting.get(place)
    if (waiting) waiting.names.push(name)
    else this.#waiting.set(place, { since: performance.now(), names: [name] })
    this.#wait()
  }

  came({ order, brokerId }: MessageId): void {
    this.#newest.set(brokerId, order)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#waiting.clear()
  }

  #hasCome({ order, brokerId }: MessageId): boolean {
    return order <= (this.#newest.get(brokerId) ?? 0)
  }

  #wait(): void {
    const [next] = this.#waiting.values()
    if (!next || this.#timer) return
    this.#timer = setTimeout(() => this.#look(), next.since + patience - performance.now())
  }

  #look(): void {
    this.#timer = undefined
    for (const [place, { since, names }] of this.#waiting) {
      if (performance.now() < since + patience) break
      this.#waiting.delete(place)
      if (!this.#hasCome(placeIn(place))) this.#onMissed(names)
    }
    this.#wait()
  }
}
