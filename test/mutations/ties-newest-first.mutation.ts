import type { StoredRecord } from '../../src/core/record/record.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'ties-newest-first',
  why: 'Records of one datetime stand in the order of their writes; a key that counts down turns them round.',
  mutate: driver =>
    withRecords(driver, {
      read: async (thingId, key, query) => {
        const page = await driver.records.read(thingId, key, query)
        if (page === undefined) return undefined
        const ties = new Map<number, StoredRecord[]>()
        for (const record of page.records) {
          ties.set(record.datetime, [record, ...(ties.get(record.datetime) ?? [])])
        }
        return { ...page, records: [...ties.values()].flat() }
      },
    }),
}
