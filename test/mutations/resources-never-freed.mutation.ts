import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'resources-never-freed',
  why: 'A resource that is emptied frees its place; a counter that only grows never gives it back.',
  mutate: driver => {
    const removed = new Map<string, number>()
    return withRecords(driver, {
      append: ({ maximumResources = Number.POSITIVE_INFINITY, ...write }, ticket) => {
        const taken = removed.get(write.thingId) ?? 0
        return driver.records.append({ ...write, maximumResources: maximumResources - taken }, ticket)
      },
      remove: async (thingId, key, range) => {
        const count = await driver.records.remove(thingId, key, range)
        if (count > 0) removed.set(thingId, (removed.get(thingId) ?? 0) + 1)
        return count
      },
    })
  },
}
