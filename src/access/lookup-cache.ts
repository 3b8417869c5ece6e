interface LookUp<Found> {
  readonly finding: Promise<Found | undefined>
  /** The result of the look-up; undefined while it is pending. */
  found: Found | undefined
}

/** Caches results, but not misses. Calls of `get` with the same key share a look-up, and resolve in the order of the calls. */
export class LookupCache<Found> {
  readonly #lookUp: (key: string) => Promise<Found | undefined>
  readonly #capacity: number
  /** Look-ups by key, oldest first. */
  readonly #entries = new Map<string, LookUp<Found>>()

  /** @param capacity maximum number of entries; if there are more, the oldest are dropped */
  constructor(lookUp: (key: string) => Promise<Found | undefined>, capacity: number) {
    this.#lookUp = lookUp
    this.#capacity = capacity
  }

  async get(key: string): Promise<Found | undefined> {
    for (;;) {
      const entry = this.#entries.get(key) ?? this.#start(key)
      const found = await entry.finding
      // If `forget` was called meanwhile, the result may be outdated: look it up again.
      if (found === undefined || this.#entries.get(key) === entry) return found
    }
  }

  /** The cached result; undefined if there is none or the look-up is pending. */
  known(key: string): Found | undefined {
    return this.#entries.get(key)?.found
  }

  /** Call this when the result for the key has changed. Pending calls of `get` then return the new result. */
  forget(key: string): void {
    this.#entries.delete(key)
  }

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
