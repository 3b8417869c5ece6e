/** How much of something there is of each thing at one time. */
export class ThingCounts {
  readonly #maximum: number
  readonly #counts = new Map<string, number>()

  constructor(maximum: number) {
    this.#maximum = maximum
  }

  /** @returns to be called once when it is over; undefined: there is as much as may be */
  enter(thingId: string): (() => void) | undefined {
    const count = this.#counts.get(thingId) ?? 0
    if (count >= this.#maximum) return undefined
    this.#counts.set(thingId, count + 1)
    return () => this.#leave(thingId)
  }

  #leave(thingId: string): void {
    const count = (this.#counts.get(thingId) ?? 0) - 1
    if (count > 0) this.#counts.set(thingId, count)
    else this.#counts.delete(thingId)
  }
}
