import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'half-a-write-kept',
  why: 'A write is kept whole; a store that acknowledges after the first of two batches keeps half of it.',
  mutate: driver =>
    withRecords(driver, {
      append: (write, ticket) => {
        const records = write.records.slice(0, Math.ceil(write.records.length / 2))
        return driver.records.append({ ...write, records }, ticket)
      },
    }),
}
