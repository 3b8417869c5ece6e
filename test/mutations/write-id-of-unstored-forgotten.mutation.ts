import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'write-id-of-unstored-forgotten',
  why: 'A write id counts with `store` false too; a store that returns early for such a write loses it.',
  mutate: driver =>
    withRecords(driver, {
      append: (write, ticket) => {
        const { id: _, ...withoutId } = write
        return driver.records.append(write.store ? write : withoutId, ticket)
      },
    }),
}
