/** Numbers that only look random: the same seed gives the same ones (mulberry32). */
export class Random {
  #state: number

  /** @param seed whole numbers, each of which counts */
  constructor(...seed: readonly number[]) {
    this.#state = seed.reduce((state, part) => Math.imul(state ^ part, 0x9e3779b1) + 0x7f4a7c15, 0) >>> 0
  }

  /** From 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  /** Whole, from 0 to below `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[this.below(items.length)] ?? items[0]
  }
}
