import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'snapshot-number-off',
  why: 'The number of a snapshot is that of its newest commit, stored or not; one of the newest record is too low.',
  mutate: driver => {
    let newestStored = 0
    driver.records.onCommit(({ stored, writeNumber }) => {
      if (stored) newestStored = writeNumber
    })
    return withRecords(driver, {
      snapshot: async () => {
        const snapshot = await driver.records.snapshot()
        return {
          writeNumber: newestStored,
          latest: query => snapshot.latest(query),
          close: () => snapshot.close(),
        }
      },
    })
  },
}
