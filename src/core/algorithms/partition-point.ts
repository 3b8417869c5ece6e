/** An array, or an object that computes its items on demand. */
export interface Items<Item> {
  readonly length: number
  at(index: number): Item | undefined
}

/**
 * Finds a partition point by binary search, like `std::partition_point` in C++.
 *
 * @param isBefore true for every item before the point, false for every item from the point on
 * @param from index at which the search begins
 * @returns the index of the first item for which `isBefore` is false; `items.length` if there is none
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
