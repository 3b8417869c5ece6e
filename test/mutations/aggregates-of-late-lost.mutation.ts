import type { AggregateQuery } from '../../src/store/contract.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'aggregates-of-late-lost',
  why: 'Late records count; a summary of a bucket that was kept when the next one began does not have them.',
  mutate: driver => {
    const kept = new Map<string, object>()
    return withRecords(driver, {
      aggregate: async (thingId, key, query: AggregateQuery, closing) => {
        const answer = await driver.records.aggregate(thingId, key, query, closing)
        if (!answer || query.from !== undefined || query.to !== undefined) return answer
        const buckets = answer.buckets.map((each, index) => {
          const name = `${thingId} ${key} ${each.start} ${each.end}`
          const isOpen = query.order === 'asc' ? index === answer.buckets.length - 1 : index === 0
          if (!isOpen && !kept.has(name)) kept.set(name, each)
          return (kept.get(name) ?? each) as typeof each
        })
        return { ...answer, buckets }
      },
    })
  },
}
