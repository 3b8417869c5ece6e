import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'half-a-write-seen',
  why: 'A read never sees part of a write; a write of two batches shows the first before the second is there.',
  mutate: driver =>
    withRecords(driver, {
      append: async (write, ticket) => {
        const half = Math.ceil(write.records.length / 2)
        if (half === write.records.length) return await driver.records.append(write, ticket)
        const { id: _, ...rest } = write
        await driver.records.append({ ...rest, records: write.records.slice(0, half) }, ticket)
        return await driver.records.append({ ...write, records: write.records.slice(half) }, ticket)
      },
    }),
}
