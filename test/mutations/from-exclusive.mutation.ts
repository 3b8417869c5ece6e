import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'from-exclusive',
  why: 'The start of a range is inclusive; `gt` for `gte` leaves out the record that stands on it.',
  mutate: driver =>
    withRecords(driver, {
      read: (thingId, key, query) =>
        driver.records.read(
          thingId,
          key,
          query.from === undefined ? query : { ...query, from: query.from + 1 },
        ),
    }),
}
