import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'cursor-of-emptied-taken',
  why: 'A cursor that was never given out is refused; a store that has nothing to look for takes any.',
  mutate: driver =>
    withRecords(driver, {
      read: async (thingId, key, query) => {
        const { cursor: _, ...anyCursor } = query
        const page = await driver.records.read(thingId, key, anyCursor)
        return page?.records.length === 0 ? page : await driver.records.read(thingId, key, query)
      },
    }),
}
