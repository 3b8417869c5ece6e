import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'states-of-unstored-kept',
  why: 'A write that is not to be stored changes no state; a store that looks at its records alone keeps them.',
  mutate: driver =>
    withRecords(driver, {
      append: async (write, ticket) => {
        const receipt = await driver.records.append(write, ticket)
        const { states = [], store } = write
        if (store || states.length === 0) return receipt
        const { documents: _, id: __, ...kept } = write
        await driver.records.append({ ...kept, records: [], store: true }, ticket)
        return receipt
      },
    }),
}
