/** First in, first out, of many thousands too: to shift an array of those costs as much as it is long. */
export class Fifo<Item> {
  #items: Item[] = []
  #next = 0

  get isEmpty(): boolean {
    return this.#items.length === 0
  }

  /** What came first; undefined: it is empty. */
  get head(): Item | undefined {
    return this.#items[this.#next]
  }

  push(item: Item): void {
    this.#items.push(item)
  }

  /** Takes out what came first. */
  shift(): void {
    this.#next++
    if (this.#next < 1_000 && this.#next < this.#items.length) return
    this.#items = this.#items.slice(this.#next)
    this.#next = 0
  }

  /** Takes out everything. */
  clear(): readonly Item[] {
    const left = this.#items.slice(this.#next)
    this.#items = []
    this.#next = 0
    return left
  }
}
