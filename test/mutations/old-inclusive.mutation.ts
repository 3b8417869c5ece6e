import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'old-inclusive',
  why: 'What was measured at the datetime from which on records are kept is kept.',
  mutate: driver =>
    withRecords(driver, {
      removeOld: (thingId, key, before, from) => driver.records.removeOld(thingId, key, before + 1, from),
    }),
}
