import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'cursor-is-offset',
  why: 'A page follows the one before whatever is appended; an offset repeats a record when one comes in before it.',
  mutate: driver =>
    withRecords(driver, {
      read: async (thingId, key, { cursor, ...query }) => {
        const offset = cursor === undefined ? 0 : Number(cursor)
        const page = await driver.records.read(thingId, key, { ...query, limit: offset + query.limit })
        if (page === undefined) return undefined
        const records = page.records.slice(offset)
        return page.next === undefined ? { records } : { records, next: String(offset + query.limit) }
      },
    }),
}
