import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'log-without-states',
  why: 'The log holds the whole commit; one that keeps records alone cannot tell a state again.',
  mutate: driver =>
    withRecords(driver, {
      readLog: async query =>
        (await driver.records.readLog(query)).map(commit => ({ ...commit, latest: [] })),
    }),
}
