import { maximumPageText } from '../core/ports.ts'
import type { LatestOfThing } from './contract.ts'

const maximumPageRecords = 256

/** Regroups the resources that a snapshot finds into pages within the bounds of the contract (`Snapshot.latest`). */
export async function* latestPages(
  found: AsyncIterable<readonly LatestOfThing[]> | Iterable<readonly LatestOfThing[]>,
): AsyncGenerator<readonly LatestOfThing[], void, undefined> {
  let page: LatestOfThing[] = []
  let characters = 0
  for await (const some of found) {
    for (const each of some) {
      page.push(each)
      characters += each.record.value.length
      if (page.length < maximumPageRecords && characters < maximumPageText) continue
      yield page
      page = []
      characters = 0
    }
  }
  if (page.length > 0) yield page
}
