import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'log-bounds-inclusive',
  why: 'The log is read after a commit; an inclusive bound gives that commit again with every page.',
  mutate: driver =>
    withRecords(driver, {
      readLog: query => driver.records.readLog({ ...query, after: query.after - 1 }),
    }),
}
