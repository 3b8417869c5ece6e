import type { Commit } from '../../src/store/contract.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'state-with-extras',
  why: 'What is told of a state is what was kept; a store that passes the object on tells what it does not keep.',
  mutate: driver => {
    let sent: Commit['latest'] = []
    return withRecords(driver, {
      append: (write, ticket) => {
        sent = write.states ?? []
        return driver.records.append(write, ticket)
      },
      onCommit: listener =>
        driver.records.onCommit(commit =>
          listener(commit.latest.length === 1 && sent.length === 1 ? { ...commit, latest: sent } : commit),
        ),
    })
  },
}
