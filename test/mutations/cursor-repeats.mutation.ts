import type { StoredRecord } from '../../src/core/record/record.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'cursor-repeats',
  why: 'A page follows the one before without repeat; `gte` for `gt` at the cursor gives its record again.',
  mutate: driver => {
    const lastOf = new Map<string, StoredRecord>()
    return withRecords(driver, {
      read: async (thingId, key, query) => {
        const page = await driver.records.read(thingId, key, query)
        const last = page?.records.at(-1)
        if (page?.next !== undefined && last) lastOf.set(page.next, last)
        const repeated = query.cursor === undefined ? undefined : lastOf.get(query.cursor)
        return page && repeated ? { ...page, records: [repeated, ...page.records] } : page
      },
    })
  },
}
