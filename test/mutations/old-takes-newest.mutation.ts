import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'old-takes-newest',
  why: 'The newest record of a resource stays however old it is; a store that removes by datetime alone empties what fell silent.',
  mutate: driver =>
    withRecords(driver, {
      removeOld: async (thingId, key, before) => ({
        count: await driver.records.remove(thingId, key, { to: before }),
      }),
    }),
}
