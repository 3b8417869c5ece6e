import type { LiveWrite } from './live-write.ts'

/** Who gets live messages: an MQTT connection, an HTTP stream. Must not throw. */
export interface Subscriber {
  /** Called once for each write of a thing that it is subscribed to, in commit order. */
  deliver(write: LiveWrite): void
  /** Called for each refused write that is sent. @param payload JSON text */
  deliverRefused?(thingId: string, payload: Buffer): void
  /** Called in place of writes, of whatever things, that are not delivered: this node has missed them. */
  missed?(): void
}

/** Subscribers by thing. */
export class Subscribers {
  readonly #byThing = new Map<string, Set<Subscriber>>()
  readonly #ofEveryThing = new Set<Subscriber>()
  #size = 0

  /** A subscriber counts once for each thing, and once for every thing. */
  get size(): number {
    return this.#size + this.#ofEveryThing.size
  }

  /** @param thingId undefined: every thing */
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

  /** Calls `visit` once for everyone who is subscribed to the thing. */
  each(thingId: string, visit: (subscriber: Subscriber) => void): void {
    const ofThing = this.#byThing.get(thingId)
    for (const subscriber of ofThing ?? []) visit(subscriber)
    for (const subscriber of this.#ofEveryThing) if (!ofThing?.has(subscriber)) visit(subscriber)
  }

  /** Everyone, once. */
  get all(): ReadonlySet<Subscriber> {
    return new Set([this.#ofEveryThing, ...this.#byThing.values()].flatMap(some => [...some]))
  }

  has(thingId: string): boolean {
    return this.#ofEveryThing.size > 0 || this.#byThing.has(thingId)
  }
}
