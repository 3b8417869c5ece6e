import { waitedFor } from '../../src/conformance/writes.ts'
import type { Mutation } from './mutation.ts'

export const mutation: Mutation = {
  name: 'expired-put-kept',
  why: 'A put that nobody waits for is dropped; a driver that does not look at its ticket keeps it.',
  mutate: driver => ({
    ...driver,
    documents: {
      ...driver.documents,
      put: (documents, purpose) => driver.documents.put(documents, purpose, waitedFor()),
    },
  }),
}
