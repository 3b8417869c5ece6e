import type { Mutation } from './mutation.ts'
import { withLatest } from './with-snapshot.ts'

export const mutation: Mutation = {
  name: 'latest-of-magic-history',
  why: 'A magic resource is there by its state; a store that lists every resource gives its history too.',
  mutate: driver =>
    withLatest(driver, async function* (query, right) {
      yield* right(query)
      const { thingId, key = '$geo' } = query
      if (thingId === undefined || !key.startsWith('$')) return
      const history = await driver.records.read(thingId, key, { order: 'desc', limit: 1 })
      const [record] = history?.records ?? []
      if (record && !(await driver.records.state(thingId, key))) yield [{ thingId, key, record }]
    }),
}
