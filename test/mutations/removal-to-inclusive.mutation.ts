import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'removal-to-inclusive',
  why: 'The end of a removed range is exclusive; one millisecond more removes a record nobody named.',
  mutate: driver =>
    withRecords(driver, {
      remove: (thingId, key, range) =>
        driver.records.remove(thingId, key, range.to === undefined ? range : { ...range, to: range.to + 1 }),
    }),
}
