import { setImmediate } from 'node:timers/promises'
import { Aggregation } from '../../../src/core/record/aggregation.ts'
import type { AggregateQuery } from '../../../src/store/contract.ts'
import type { Mutations } from '../mutation.ts'

/** Aggregates: buckets and what they hold. */
export const aggregateMutations: Mutations = {
  'aggregates-end-left-out': {
    why: 'An answer that ends early holds the start of the rest; without that it is taken for the whole.',
    records: right => ({
      aggregate: async (...query) => {
        const answer = await right.aggregate(...query)
        return answer && { buckets: answer.buckets }
      },
    }),
  },
  'aggregates-first-as-read': {
    why: 'The first value of a bucket is that in time; in descending order the one that is read first is the last.',
    records: right => ({
      aggregate: async (thingId, key, query, closing) => {
        const answer = await right.aggregate(thingId, key, query, closing)
        if (!answer || query.order === 'asc') return answer
        const buckets = answer.buckets.map(each => ({ ...each, first: each.last, last: each.first }))
        return { ...answer, buckets }
      },
    }),
  },
  'aggregates-of-late-lost': {
    why: 'Late records count; a summary of a bucket that was kept when the next one began does not have them.',
    records: right => {
      const kept = new Map<string, object>()
      return {
        aggregate: async (thingId, key, query: AggregateQuery, closing) => {
          const answer = await right.aggregate(thingId, key, query, closing)
          if (!answer || query.from !== undefined || query.to !== undefined) return answer
          const buckets = answer.buckets.map((each, index) => {
            const name = `${thingId} ${key} ${each.start} ${each.end}`
            const isOpen = query.order === 'asc' ? index === answer.buckets.length - 1 : index === 0
            if (!isOpen && !kept.has(name)) kept.set(name, each)
            return (kept.get(name) ?? each) as typeof each
          })
          return { ...answer, buckets }
        },
      }
    },
  },
  'aggregates-page-by-page': {
    why: 'Aggregates are of one moment; folded from pages, each of its own, they have a part of a write.',
    records: right => ({
      aggregate: async (thingId, key, query) => {
        const answer = new Aggregation(query)
        const range = { ...query, limit: 500 }
        let page = await right.read(thingId, key, range)
        if (!page) return undefined
        for (;;) {
          for (const { datetime, value } of page.records) {
            if (!answer.add(datetime, value)) return answer.end()
          }
          if (page.next === undefined) return answer.end()
          await setImmediate()
          page = (await right.read(thingId, key, { ...range, cursor: page.next })) ?? { records: [] }
        }
      },
    }),
  },
  'aggregates-uncompensated': {
    why: 'A sum does not show how many numbers it is of; what each addition rounds away is forgotten.',
    records: right => ({
      aggregate: async (...query) => {
        const answer = await right.aggregate(...query)
        return answer && { ...answer, buckets: answer.buckets.map(each => ({ ...each, compensation: 0 })) }
      },
    }),
  },
}
