import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'write-id-forgotten',
  why: 'A repeated write id has no effect; a store that does not keep it takes the write again.',
  mutate: driver =>
    withRecords(driver, {
      append: ({ id: _, ...write }, ticket) => driver.records.append(write, ticket),
    }),
}
