import type { Mutation } from './mutation.ts'
import { withLatest } from './with-snapshot.ts'

export const mutation: Mutation = {
  name: 'latest-by-key-prefix',
  why: 'What is latest is selected by the whole key; a scan whose end is not the end of the name finds longer ones.',
  mutate: driver =>
    withLatest(driver, async function* ({ key, ...query }, right) {
      for await (const page of right(query)) {
        const selected = page.filter(each => each.key.startsWith(key ?? ''))
        if (selected.length > 0) yield selected
      }
    }),
}
