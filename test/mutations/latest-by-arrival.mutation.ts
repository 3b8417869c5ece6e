import type { StoredRecord } from '../../src/core/record.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'latest-by-arrival',
  why: 'The latest record is so by its datetime; a cache that each append overwrites gives the last to arrive.',
  mutate: driver => {
    const latest = new Map<string, StoredRecord>()
    return withRecords(driver, {
      append: async (write, ticket) => {
        const receipt = await driver.records.append(write, ticket)
        if (!write.store || receipt.writeNumber === 0) return receipt
        for (const { place: _, explicit: __, ...record } of write.records) {
          latest.set(`${write.thingId} ${record.key}`, record)
        }
        return receipt
      },
      read: async (thingId, key, query) => {
        const page = await driver.records.read(thingId, key, query)
        const cached = latest.get(`${thingId} ${key}`)
        const { order, limit, from, to, cursor } = query
        const isLatest = order === 'desc' && limit === 1 && !cursor && from === undefined && to === undefined
        return page && cached && isLatest ? { ...page, records: [cached] } : page
      },
    })
  },
}
