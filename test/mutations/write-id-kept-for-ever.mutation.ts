import type { Receipt } from '../../src/store/contract.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'write-id-kept-for-ever',
  why: 'The last 1,000 write ids of 24 hours count, no others; ids that are never forgotten swallow new writes.',
  mutate: driver => {
    const taken = new Map<string, Receipt>()
    return withRecords(driver, {
      append: async (write, ticket) => {
        const name = `${write.thingId} ${write.id}`
        const first = write.id === undefined ? undefined : taken.get(name)
        if (first) return { writeNumber: 0, answer: first.answer }
        const receipt = await driver.records.append(write, ticket)
        taken.set(name, receipt)
        return receipt
      },
      removeThing: async thingId => {
        for (const name of taken.keys()) if (name.startsWith(`${thingId} `)) taken.delete(name)
        await driver.records.removeThing(thingId)
      },
    })
  },
}
