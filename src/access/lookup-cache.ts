/**
 * What was looked up in the store, kept in memory; what was not found is not kept. Callers that ask for one key
 * share one look-up and are answered in the order in which they asked, whether it is kept or still under way: the
 * writes of a connection must not overtake one another on the way to the store (contract §4).
 */
export class LookupCache<Found> {
  readonly #lookUp: (key: string) => Promise<Found | undefined>
  readonly #capacity: number
  /** In the order in which they were looked up. */
  readonly #entries = new Map<string, Promise<Found | undefined>>()

  /** @param capacity how many are kept; beyond it the oldest are dropped */
  constructor(lookUp: (key: string) => Promise<Found | undefined>, capacity: number) {
    this.#lookUp = lookUp
    this.#capacity = capacity
  }

  async get(key: string): Promise<Found | undefined> {
    for (;;) {
      const entry = this.#entries.get(key) ?? this.#start(key)
      const found = await entry
      // One forgotten in the meantime may have been read before the change that made it be forgotten.
      if (found === undefined || this.#entries.get(key) === entry) return found
    }
  }

  /** To be called when what is found under `key` has changed: whoever waits for a look-up gets the new state. */
  forget(key: string): void {
    this.#entries.delete(key)
  }

  /** The same for every key. */
  forgetAll(): void {
    this.#entries.clear()
  }

  #start(key: string): Promise<Found | undefined> {
    const entry = this.#lookUp(key)
    this.#entries.set(key, entry)
    const drop = () => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key)
    }
    entry.then(found => (found === undefined ? drop() : this.#dropOldest()), drop)
    return entry
  }

  #dropOldest(): void {
    if (this.#entries.size <= this.#capacity) return
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined) this.#entries.delete(oldest)
  }
}
