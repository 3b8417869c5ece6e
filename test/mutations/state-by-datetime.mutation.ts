import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'state-by-datetime',
  why: 'A state is what was put last; a store that takes it for a record keeps the one with the newest datetime.',
  mutate: driver => {
    const newest = new Map<string, number>()
    return withRecords(driver, {
      append: (write, ticket) => {
        const states = write.states?.filter(({ key, record }) => {
          const name = `${write.thingId} ${key}`
          if (!record) return newest.delete(name) || true
          if (record.datetime < (newest.get(name) ?? 0)) return false
          newest.set(name, record.datetime)
          return true
        })
        return driver.records.append(states ? { ...write, states } : write, ticket)
      },
    })
  },
}
