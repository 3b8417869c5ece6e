interface LookUp<Found> {
  readonly finding: Promise<Found | undefined>
  /** undefined until it is found. */
  found: Found | undefined
}

/**
 * What was looked up in the store, kept in memory; what was not found is not kept. Callers that ask for one key
 * share one look-up. Those of `get` are answered in the order in which they asked, whether it is kept or still under way.
 */
export class LookupCache<Found> {
  readonly #lookUp: (key: string) => Promise<Found | undefined>
  readonly #capacity: number
  /** In the order in which they were looked up. */
  readonly #entries = new Map<string, LookUp<Found>>()

  /** @param capacity how many are kept; beyond it the oldest are dropped */
  constructor(lookUp: (key: string) => Promise<Found | undefined>, capacity: number) {
    this.#lookUp = lookUp
    this.#capacity = capacity
  }

  async get(key: string): Promise<Found | undefined> {
    for (;;) {
      const entry = this.#entries.get(key) ?? this.#start(key)
      const found = await entry.finding
      // One forgotten in the meantime may have been read before the change that made it be forgotten.
      if (found === undefined || this.#entries.get(key) === entry) return found
    }
  }

  /** What is kept under `key`; undefined: nothing, or it is still looked up. */
  known(key: string): Found | undefined {
    return this.#entries.get(key)?.found
  }

  /** To be called when what is found under `key` has changed: whoever waits for a look-up gets the new state. */
  forget(key: string): void {
    this.#entries.delete(key)
  }

  /** The same for every key. */
  forgetAll(): void {
    this.#entries.clear()
  }

  #start(key: string): LookUp<Found> {
    const entry: LookUp<Found> = { finding: this.#lookUp(key), found: undefined }
    this.#entries.set(key, entry)
    const drop = () => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key)
    }
    entry.finding.then(found => {
      entry.found = found
      if (found === undefined) drop()
      else this.#dropOldest()
    }, drop)
    return entry
  }

  #dropOldest(): void {
    if (this.#entries.size <= this.#capacity) return
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined) this.#entries.delete(oldest)
  }
}
