import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'cursor-by-datetime',
  why: 'A page follows the one before without a gap; a cursor of the datetime alone skips the rest of its ties.',
  mutate: driver =>
    withRecords(driver, {
      read: async (thingId, key, { cursor, ...query }) => {
        const from = query.order === 'asc' && cursor !== undefined ? { from: Number(cursor) + 1 } : {}
        const to = query.order === 'desc' && cursor !== undefined ? { to: Number(cursor) } : {}
        const page = await driver.records.read(thingId, key, { ...query, ...from, ...to })
        if (page?.next === undefined) return page
        return { ...page, next: String(page.records.at(-1)?.datetime) }
      },
    }),
}
