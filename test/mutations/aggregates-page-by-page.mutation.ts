import { setImmediate } from 'node:timers/promises'
import { Aggregation } from '../../src/core/record/aggregation.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'aggregates-page-by-page',
  why: 'Aggregates are of one moment; folded from pages, each of its own, they have a part of a write.',
  mutate: driver =>
    withRecords(driver, {
      aggregate: async (thingId, key, query) => {
        const answer = new Aggregation(query)
        const range = { ...query, limit: 500 }
        let page = await driver.records.read(thingId, key, range)
        if (!page) return undefined
        for (;;) {
          for (const { datetime, value } of page.records) {
            if (!answer.add(datetime, value)) return answer.end()
          }
          if (page.next === undefined) return answer.end()
          await setImmediate()
          page = (await driver.records.read(thingId, key, { ...range, cursor: page.next })) ?? { records: [] }
        }
      },
    }),
}
