import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'resources-unlimited',
  why: 'A thing has no more resources than it may; a store that does not look at the maximum lets any key in.',
  mutate: driver =>
    withRecords(driver, {
      append: ({ maximumResources: _, ...write }, ticket) => driver.records.append(write, ticket),
    }),
}
