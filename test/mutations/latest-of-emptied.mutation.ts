import type { LatestOfThing } from '../../src/store/contract.ts'
import type { Mutation } from './mutation.ts'
import { withLatest } from './with-snapshot.ts'

export const mutation: Mutation = {
  name: 'latest-of-emptied',
  why: 'An emptied resource has nothing that is latest; an index that removals do not reach still has its record.',
  mutate: driver => {
    const seen = new Map<string, LatestOfThing>()
    return withLatest(driver, async function* (query, right) {
      const missing = new Map(seen)
      for await (const page of right(query)) {
        for (const each of page) {
          const name = `${each.thingId} ${each.key}`
          missing.delete(name)
          if (!each.key.startsWith('$')) seen.set(name, each)
        }
        yield page
      }
      const { thingId, key } = query
      const left = [...missing.values()].filter(
        each => (thingId ?? each.thingId) === each.thingId && (key ?? each.key) === each.key,
      )
      if (left.length > 0) yield left
    })
  },
}
