import { ThingwireError } from '../../src/errors.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'resources-full-for-all',
  why: 'A thing at its maximum writes on to what it has; a store that only compares the count shuts it out.',
  mutate: driver =>
    withRecords(driver, {
      append: async (write, ticket) => {
        const { thingId, maximumResources = Number.POSITIVE_INFINITY } = write
        const present = await driver.records.resources(thingId)
        if (write.store && present.length >= maximumResources) throw new ThingwireError('too_many_resources')
        return await driver.records.append(write, ticket)
      },
    }),
}
