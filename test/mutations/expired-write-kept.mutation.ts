import { waitedFor } from '../../src/conformance/writes.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'expired-write-kept',
  why: 'A write that nobody waits for is dropped; a driver that does not look at its ticket keeps it.',
  mutate: driver =>
    withRecords(driver, {
      append: write => driver.records.append(write, waitedFor()),
    }),
}
