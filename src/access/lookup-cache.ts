interface LookUp<Found> {
  readonly finding: Promise<Found | undefined>
  /** undefined until it is found. */
  found: Found | undefined
}

/** Caches look-ups, but not misses. Callers with the same key share one, and calls of `get` resolve in their order, cached or not. */
export class LookupCache<Found> {
  readonly #lookUp: (key: string) => Promise<Found | undefined>
  readonly #capacity: number
  /** In the order of the look-ups. */
  readonly #entries = new Map<string, LookUp<Found>>()

  /** @param capacity most entries; beyond it the oldest are dropped */
  constructor(lookUp: (key: string) => Promise<Found | undefined>, capacity: number) {
    this.#lookUp = lookUp
    this.#capacity = capacity
  }

  async get(key: string): Promise<Found | undefined> {
    for (;;) {
      const entry = this.#entries.get(key) ?? this.#start(key)
      const found = await entry.finding
      // An entry that was forgotten meanwhile may have been read before the change.
      if (found === undefined || this.#entries.get(key) === entry) return found
    }
  }

  /** The cached result; undefined: there is none, or the look-up is under way. */
  known(key: string): Found | undefined {
    return this.#entries.get(key)?.found
  }

  /** Call it when the result has changed: pending calls of `get` then return the new one. */
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
