import type { Commit } from '../../src/store/contract.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'log-of-unstored',
  why: 'What is not stored is not in the log; a log that listens to the commits has it too.',
  mutate: driver => {
    const unstored: Commit[] = []
    driver.records.onCommit(commit => {
      if (!commit.stored) unstored.push(commit)
    })
    return withRecords(driver, {
      readLog: async query => [...(await driver.records.readLog(query)), ...unstored].slice(0, query.limit),
    })
  },
}
