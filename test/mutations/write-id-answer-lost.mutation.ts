import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'write-id-answer-lost',
  why: 'A repeat gets the answer of the first write; a store that keeps the bare id answers as if all was taken.',
  mutate: driver =>
    withRecords(driver, {
      append: async (write, ticket) => {
        const receipt = await driver.records.append(write, ticket)
        return receipt.writeNumber === 0 ? { writeNumber: 0, answer: {} } : receipt
      },
    }),
}
