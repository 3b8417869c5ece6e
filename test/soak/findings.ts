/**
 * What a subscriber may find wrong. `altered`: another key, value, datetime, position, or topic than was written.
 * `unexpected`: what nobody wrote, or not for this subscriber. `retained`: RETAIN set where it may not be, or a retained
 * message that is missing, stale, or out of its place.
 */
export const findingKinds = ['lost', 'doubled', 'out of order', 'altered', 'unexpected', 'retained'] as const
export type FindingKind = (typeof findingKinds)[number]

const shown = 3

/** What one subscriber found wrong, counted, with the first few of each kind. */
export class Findings {
  readonly #found = new Map<FindingKind, { count: number; first: string[] }>()

  add(kind: FindingKind, example: string, count = 1): void {
    const found = this.#found.get(kind) ?? { count: 0, first: [] }
    this.#found.set(kind, found)
    found.count += count
    if (found.first.length < shown) found.first.push(example)
  }

  get isEmpty(): boolean {
    return this.#found.size === 0
  }

  /** How many of this kind. */
  count(kind: FindingKind): number {
    return this.#found.get(kind)?.count ?? 0
  }

  /** Such as `lost: 2 (things 4 ordinary 17, …)`. */
  toString(): string {
    return [...this.#found]
      .map(([kind, { count, first }]) => `${kind}: ${count} (${first.join(', ')})`)
      .join('; ')
  }
}
