import { type StoredRecord, storedForm } from '../../src/core/record/record.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'latest-by-arrival',
  why: 'The latest record is so by its datetime; a cache that each append overwrites gives the last to arrive.',
  mutate: driver => {
    const latest = new Map<string, StoredRecord>()
    driver.records.onCommit(({ thingId, records, stored }) => {
      if (!stored) return
      for (const record of records) latest.set(`${thingId} ${record.key}`, storedForm(record))
    })
    return withRecords(driver, {
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
