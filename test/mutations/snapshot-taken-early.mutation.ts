import type { Snapshot } from '../../src/store/contract.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'snapshot-taken-early',
  why: 'A snapshot sees what was appended before the call; one that does not wait its turn misses what is under way.',
  mutate: driver => {
    let appending = 0
    let newest: Snapshot | undefined
    return withRecords(driver, {
      append: (write, ticket) => {
        appending++
        const append = driver.records.append(write, ticket)
        const settled = () => appending--
        append.then(settled, settled)
        return append
      },
      snapshot: async () => {
        if (newest === undefined || appending === 0) newest = await driver.records.snapshot()
        const { writeNumber } = newest
        const latest = newest.latest.bind(newest)
        return { writeNumber, latest, close: async () => {} }
      },
    })
  },
}
