import type { Commit } from '../../src/store/contract.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'late-commit-quiet',
  why: 'A write that commits after its ticket has expired is told as it was sent; a store may think that nobody expects it.',
  mutate: driver => {
    let isLate = () => false
    return withRecords(driver, {
      append: (write, waiting) => {
        isLate = () => waiting.expired
        return driver.records.append(write, waiting)
      },
      onCommit: listener =>
        driver.records.onCommit((commit: Commit) =>
          listener(isLate() ? { ...commit, broadcast: false } : commit),
        ),
    })
  },
}
