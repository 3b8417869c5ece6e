import type { StoredRecord } from '../../src/core/record/record.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'states-of-removed-thing-kept',
  why: 'A thing is removed with its states; a store that goes by the names of resources does not find them.',
  mutate: driver => {
    const kept = new Map<string, StoredRecord | undefined>()
    return withRecords(driver, {
      removeThing: async thingId => {
        for (const key of ['$geo', '$settings']) {
          kept.set(`${thingId} ${key}`, await driver.records.state(thingId, key))
        }
        await driver.records.removeThing(thingId)
      },
      state: async (thingId, key) =>
        (await driver.records.state(thingId, key)) ?? kept.get(`${thingId} ${key}`),
    })
  },
}
