import type { Commit } from '../../src/store/contract.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'log-of-removed-thing-kept',
  why: 'A thing is removed with its part of the log; what is left there would be told of a thing that is gone.',
  mutate: driver => {
    const kept: Commit[] = []
    return withRecords(driver, {
      removeThing: async thingId => {
        const all = await driver.records.readLog({
          ...{ after: 0, before: Number.POSITIVE_INFINITY },
          ...{ order: 'asc', limit: 10_000 },
        })
        kept.push(...all.filter(commit => commit.thingId === thingId))
        await driver.records.removeThing(thingId)
      },
      readLog: async query => [...kept, ...(await driver.records.readLog(query))],
    })
  },
}
