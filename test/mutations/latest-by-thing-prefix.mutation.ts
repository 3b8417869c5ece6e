import type { Mutation } from './mutation.ts'
import { withLatest } from './with-snapshot.ts'

export const mutation: Mutation = {
  name: 'latest-by-thing-prefix',
  why: 'What is latest is selected by the whole thing id; a scan whose end is not the end of the id finds others.',
  mutate: driver =>
    withLatest(driver, async function* ({ thingId, ...query }, right) {
      for await (const page of right(query)) {
        const selected = page.filter(each => each.thingId.startsWith(thingId ?? ''))
        if (selected.length > 0) yield selected
      }
    }),
}
