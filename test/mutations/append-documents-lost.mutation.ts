import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'append-documents-lost',
  why: 'Documents are put with the records; a driver from before there were any does not look at them.',
  mutate: driver =>
    withRecords(driver, {
      append: ({ documents: _, ...write }, ticket) => driver.records.append(write, ticket),
    }),
}
