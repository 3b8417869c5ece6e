/** An array, or what makes its items when they are asked for. */
export interface Items<Item> {
  readonly length: number
  at(index: number): Item | undefined
}

/**
 * Finds by halving where the items end that come first, as `std::partition_point` of C++ does.
 *
 * @param isBefore true of all items in front of that place, false of the others
 * @param from items in front of this place are not asked about
 * @returns the place of the first item that is not before, at most `items.length`
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
