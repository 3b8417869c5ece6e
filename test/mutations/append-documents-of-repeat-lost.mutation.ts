import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'append-documents-of-repeat-lost',
  why: 'A write that repeats an id still puts its documents; a store that returns early for it leaves them out.',
  mutate: driver => {
    const seen = new Set<string>()
    return withRecords(driver, {
      append: (write, ticket) => {
        const { documents: _, ...bare } = write
        const name = `${write.thingId} ${write.id}`
        if (write.id !== undefined && seen.has(name)) return driver.records.append(bare, ticket)
        if (!ticket.expired) seen.add(name)
        return driver.records.append(write, ticket)
      },
    })
  },
}
