import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'empty-range-unknown',
  why: 'A range without records is an empty page; a store that only looks at what it found calls the key unknown.',
  mutate: driver =>
    withRecords(driver, {
      read: async (thingId, key, query) => {
        const page = await driver.records.read(thingId, key, query)
        return page?.records.length === 0 ? undefined : page
      },
    }),
}
