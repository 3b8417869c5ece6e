/** Slips of the finger that a word may hold and still be known. */
const maximumSlips = 2

/** The word that was probably meant; undefined if none is near. */
export function nearest(typed: string, words: readonly string[]): string | undefined {
  const ranked = words
    .map(word => ({ word, slips: slipsBetween(typed, word) }))
    .filter(({ word, slips }) => slips <= maximumSlips && slips < word.length / 2)
    .sort((one, other) => one.slips - other.slips)
  return ranked[0]?.word
}

/** Letters added, left out, changed or swapped with the next (optimal string alignment). */
function slipsBetween(one: string, other: string): number {
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, column) => column)]
  const at = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY
  for (let row = 1; row <= one.length; row++) {
    const slips = [row]
    rows.push(slips)
    for (let column = 1; column <= other.length; column++) {
      const changed = one[row - 1] === other[column - 1] ? 0 : 1
      const isSwap = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      const swapped = isSwap ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY
      slips[column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + changed,
        swapped,
      )
    }
  }
  return at(one.length, other.length)
}
