import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'states-of-repeat-kept',
  why: 'A write that repeats an id has no effect; a store that checks the id for its records only puts its states.',
  mutate: driver =>
    withRecords(driver, {
      append: async (write, ticket) => {
        const receipt = await driver.records.append(write, ticket)
        if (receipt.writeNumber > 0 || !write.states) return receipt
        const { documents: _, id: __, ...states } = write
        await driver.records.append({ ...states, records: [] }, ticket)
        return receipt
      },
    }),
}
