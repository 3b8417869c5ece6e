/** How often each of a few things has happened. */
export class Tally<Name extends string> implements Iterable<readonly [Name, number]> {
  readonly #times: Map<Name, number>

  /** @param names told from the start, with 0 */
  constructor(names: readonly Name[] = []) {
    this.#times = new Map(names.map(name => [name, 0]))
  }

  add(name: Name): void {
    this.#times.set(name, (this.#times.get(name) ?? 0) + 1)
  }

  [Symbol.iterator](): Iterator<readonly [Name, number]> {
    return this.#times.entries()
  }
}
