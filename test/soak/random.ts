export function chance(probability: number): boolean {
  return Math.random() < probability
}

/** Whole, both ends included. */
export function between(least: number, most: number): number {
  return least + Math.floor(Math.random() * (most - least + 1))
}

/** Any of these. @throws RangeError if there are none */
export function pick<Item>(items: readonly Item[]): Item {
  const item = items[between(0, items.length - 1)]
  if (item === undefined) throw new RangeError('there is nothing to pick')
  return item
}
