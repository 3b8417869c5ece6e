import { waitedFor } from '../../src/conformance/writes.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'documents-of-expired-kept',
  why: 'A write that nobody waits for is dropped with its documents; a store that puts these first keeps them.',
  mutate: driver =>
    withRecords(driver, {
      append: (write, ticket) => {
        if (ticket.expired) void driver.documents.put(write.documents ?? {}, 'keep', waitedFor())
        return driver.records.append(write, ticket)
      },
    }),
}
