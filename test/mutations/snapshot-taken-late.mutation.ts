import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'snapshot-taken-late',
  why: 'Nothing that is appended after the call is in a snapshot; one that is taken when the store is idle has it.',
  mutate: driver => {
    const appending = new Set<Promise<unknown>>()
    return withRecords(driver, {
      append: (write, ticket) => {
        const append = driver.records.append(write, ticket)
        const settled = () => appending.delete(append)
        appending.add(append)
        append.then(settled, settled)
        return append
      },
      snapshot: async () => {
        while (appending.size > 0) await Promise.allSettled(appending)
        return await driver.records.snapshot()
      },
    })
  },
}
