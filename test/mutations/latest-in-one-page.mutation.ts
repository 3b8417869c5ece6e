import type { LatestOfThing } from '../../src/store/contract.ts'
import type { Mutation } from './mutation.ts'
import { withLatest } from './with-snapshot.ts'

export const mutation: Mutation = {
  name: 'latest-in-one-page',
  why: 'Pages are bounded, so that a wildcard does not take all memory; a store that collects first has one page.',
  mutate: driver =>
    withLatest(driver, async function* (query, right) {
      const all: LatestOfThing[] = []
      for await (const page of right(query)) all.push(...page)
      if (all.length > 0) yield all
    }),
}
