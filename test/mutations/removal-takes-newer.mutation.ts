import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'removal-takes-newer',
  why: 'What is appended while a removal runs stays; a removal that starts late takes it too.',
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
      remove: async (thingId, key, range) => {
        await new Promise(resolve => setImmediate(resolve))
        await Promise.allSettled(appending)
        return await driver.records.remove(thingId, key, range)
      },
    })
  },
}
