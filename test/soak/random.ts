export function chance(probability: number): boolean {
  return Math.random() < probability
}

/** Whole, both ends included. */
export function between(least: number, most: number): number {
  return least + Math.floor(Math.random() * (most - least + 1))
}
