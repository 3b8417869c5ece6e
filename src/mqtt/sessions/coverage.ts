/** Of which things someone among many wants the messages. */
export class Coverage {
  readonly #thingsOf = new Map<string, ReadonlySet<string>>()
  /** How many want those of a thing; `+`: of every thing. */
  readonly #counts = new Map<string, number>()

  /** @param refs thing ids, `+` for every thing; in the place of what was said for this client before */
  set(clientId: string, refs: ReadonlySet<string>): void {
    const before = this.#thingsOf.get(clientId)
    if (refs.size > 0) this.#thingsOf.set(clientId, refs)
    else this.#thingsOf.delete(clientId)
    for (const ref of refs) this.#counts.set(ref, (this.#counts.get(ref) ?? 0) + 1)
    for (const ref of before ?? []) {
      const count = (this.#counts.get(ref) ?? 0) - 1
      if (count > 0) this.#counts.set(ref, count)
      else this.#counts.delete(ref)
    }
  }

  has(thingId: string): boolean {
    return this.#counts.has(thingId) || this.#counts.has('+')
  }
}
