/** How much of something there is at one time, by thing or by address. */
export class BoundedCounts {
  readonly #maximum: number
  readonly #counts = new Map<string, number>()
  #total = 0

  /** @param maximum of each */
  constructor(maximum: number) {
    this.#maximum = maximum
  }

  /** How many things or addresses have any. */
  get size(): number {
    return this.#counts.size
  }

  /** Of all of them together. */
  get total(): number {
    return this.#total
  }

  /** @returns to be called once when it is over; undefined: there is as much as may be */
  enter(name: string): (() => void) | undefined {
    const count = this.#counts.get(name) ?? 0
    if (count >= this.#maximum) return undefined
    this.#counts.set(name, count + 1)
    this.#total++
    return () => this.#leave(name)
  }

  #leave(name: string): void {
    this.#total--
    const count = (this.#counts.get(name) ?? 0) - 1
    if (count > 0) this.#counts.set(name, count)
    else this.#counts.delete(name)
  }
}
