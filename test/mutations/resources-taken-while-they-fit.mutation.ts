import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'resources-taken-while-they-fit',
  why: 'A write is refused whole; a store that counts record by record keeps those before the one too many.',
  mutate: driver =>
    withRecords(driver, {
      append: async (write, ticket) => {
        try {
          return await driver.records.append(write, ticket)
        } catch (error) {
          const [first] = write.records
          const isFull = error instanceof Error && 'reason' in error && error.reason === 'too_many_resources'
          if (isFull && first && write.records.length > 1) {
            await driver.records.append({ ...write, records: [first] }, ticket).catch(() => {})
          }
          throw error
        }
      },
    }),
}
