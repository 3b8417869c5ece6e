import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'to-inclusive',
  why: 'The end of a range is exclusive; `lte` for `lt` takes in the record that stands on it.',
  mutate: driver =>
    withRecords(driver, {
      read: (thingId, key, query) =>
        driver.records.read(thingId, key, query.to === undefined ? query : { ...query, to: query.to + 1 }),
    }),
}
