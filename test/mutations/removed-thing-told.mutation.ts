import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'removed-thing-told',
  why: 'Nothing is told of a thing that is removed; one that removes resource by resource tells each.',
  mutate: driver =>
    withRecords(driver, {
      removeThing: async thingId => {
        for (const key of await driver.records.resources(thingId)) {
          await driver.records.remove(thingId, key, {})
        }
        await driver.records.removeThing(thingId)
      },
    }),
}
