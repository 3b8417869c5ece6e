import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'aggregates-first-as-read',
  why: 'The first value of a bucket is that in time; in descending order the one that is read first is the last.',
  mutate: driver =>
    withRecords(driver, {
      aggregate: async (thingId, key, query, closing) => {
        const answer = await driver.records.aggregate(thingId, key, query, closing)
        if (!answer || query.order === 'asc') return answer
        const buckets = answer.buckets.map(each => ({ ...each, first: each.last, last: each.first }))
        return { ...answer, buckets }
      },
    }),
}
