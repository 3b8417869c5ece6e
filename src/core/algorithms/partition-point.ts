/** An array, or an object that makes its items on demand. */
export interface Items<Item> {
  readonly length: number
  at(index: number): Item | undefined
}

/**
 * Binary search for a partition point, as `std::partition_point` of C++.
 *
 * @param isBefore true for all items before the point, false for the others
 * @param from index at which the search begins
 * @returns index of the first item for which `isBefore` is false, at most `items.length`
 */
export function partitionPoint<Item>(
  items: Items<Item>,
  isBefore: (item: Item) => boolean,
  from = 0,
): number {
  let low = from
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(items.at(middle) as Item)) low = middle + 1
    else high = middle
  }
  return low
}
