import type { LiveWrite } from './live-write.ts'

/** An MQTT connection or an HTTP stream. The methods must not throw. */
export interface Subscriber {
  /** Called once for each write of a subscribed thing, in commit order. */
  deliver(write: LiveWrite): void
  /** @param payload JSON text */
  deliverRefused?(thingId: string, payload: Buffer): void
  /** Called instead of `deliver` if this node has missed writes. The missed writes may be of any thing. */
  missed?(): void
}

export class Subscribers {
  readonly #byThing = new Map<string, Set<Subscriber>>()
  readonly #ofEveryThing = new Set<Subscriber>()
  #size = 0

  /** A subscriber counts once for each of its things. */
  get size(): number {
    return this.#size + this.#ofEveryThing.size
  }

  /** @param thingId undefined for every thing */
  add(thingId: string | undefined, subscriber: Subscriber): void {
    if (thingId === undefined) {
      this.#ofEveryThing.add(subscriber)
      return
    }
    const ofThing = this.#byThing.get(thingId) ?? new Set()
    if (ofThing.has(subscriber)) return
    this.#byThing.set(thingId, ofThing.add(subscriber))
    this.#size++
  }

  delete(thingId: string | undefined, subscriber: Subscriber): void {
    if (thingId === undefined) {
      this.#ofEveryThing.delete(subscriber)
      return
    }
    const ofThing = this.#byThing.get(thingId)
    if (!ofThing?.delete(subscriber)) return
    this.#size--
    if (ofThing.size === 0) this.#byThing.delete(thingId)
  }

  /** Calls `visit` once for each subscriber of the thing. */
  each(thingId: string, visit: (subscriber: Subscriber) => void): void {
    const ofThing = this.#byThing.get(thingId)
    for (const subscriber of ofThing ?? []) visit(subscriber)
    for (const subscriber of this.#ofEveryThing) if (!ofThing?.has(subscriber)) visit(subscriber)
  }

  /** Each subscriber once, even if it subscribes to several things. */
  get all(): ReadonlySet<Subscriber> {
    return new Set([this.#ofEveryThing, ...this.#byThing.values()].flatMap(some => [...some]))
  }

  has(thingId: string): boolean {
    return this.#ofEveryThing.size > 0 || this.#byThing.has(thingId)
  }
}
