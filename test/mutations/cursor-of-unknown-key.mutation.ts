import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'cursor-of-unknown-key',
  why: 'A key that was never written is unknown whatever the cursor; a store that looks at the cursor first says otherwise.',
  mutate: driver =>
    withRecords(driver, {
      read: async (thingId, key, query) => {
        const page = await driver.records.read(thingId, key, query)
        if (page === undefined && query.cursor !== undefined) return { records: [] }
        return page
      },
    }),
}
