import { ThingwireError } from '../../src/errors.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'resources-counted-early',
  why: 'The count holds among writes in flight; looked up before the write waits for its commit, it is out of date.',
  mutate: driver =>
    withRecords(driver, {
      append: async ({ maximumResources = Number.POSITIVE_INFINITY, ...write }, ticket) => {
        const present = await driver.records.resources(write.thingId)
        const added = new Set(write.records.flatMap(({ key }) => (present.includes(key) ? [] : [key])))
        const isRepeat =
          write.id !== undefined &&
          (await driver.records.answerOf(write.thingId, write.id, Date.now())) !== undefined
        if (write.store && !isRepeat && added.size > 0 && present.length + added.size > maximumResources) {
          throw new ThingwireError('too_many_resources')
        }
        return await driver.records.append(write, ticket)
      },
    }),
}
