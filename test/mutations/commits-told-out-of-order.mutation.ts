import type { Commit } from '../../src/store/contract.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'commits-told-out-of-order',
  why: 'Listeners hear commits in commit order; a group that is told from its end turns them round.',
  mutate: driver =>
    withRecords(driver, {
      onCommit: listener => {
        let group: Commit[] = []
        return driver.records.onCommit(commit => {
          group.push(commit)
          if (group.length > 1) return
          queueMicrotask(() => {
            const told = group.toReversed()
            group = []
            for (const each of told) listener(each)
          })
        })
      },
    }),
}
