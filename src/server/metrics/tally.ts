/** How often each of a few things has happened. */
export class Tally<Name extends string> extends Map<Name, number> {
  add(name: Name): void {
    this.set(name, (this.get(name) ?? 0) + 1)
  }
}
