import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'log-of-every-thing',
  why: 'The log is read for a few things; a store that gives the commits of others has its readers pass over them.',
  mutate: driver =>
    withRecords(driver, { readLog: ({ isOf: _, ...query }) => driver.records.readLog(query) }),
}
