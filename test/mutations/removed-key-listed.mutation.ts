import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'removed-key-listed',
  why: 'A key that holds no record is not listed; an index that only grows lists it for ever.',
  mutate: driver => {
    const seen = new Map<string, Set<string>>()
    return withRecords(driver, {
      append: async (write, ticket) => {
        const receipt = await driver.records.append(write, ticket)
        const keys = seen.get(write.thingId) ?? new Set()
        if (write.store) for (const { key } of write.records) keys.add(key)
        seen.set(write.thingId, keys)
        return receipt
      },
      resources: async thingId => [...(seen.get(thingId) ?? [])].sort(),
      removeThing: async thingId => {
        seen.delete(thingId)
        await driver.records.removeThing(thingId)
      },
    })
  },
}
