import type { Mutation } from './mutation.ts'

export const mutation: Mutation = {
  name: 'puts-out-of-order',
  why: 'Puts take effect in the order of the calls; a queue of their own is overtaken by appends and changes.',
  mutate: driver => ({
    ...driver,
    documents: {
      ...driver.documents,
      put: async (documents, purpose, ticket) => {
        await new Promise(resolve => setImmediate(resolve))
        await driver.documents.put(documents, purpose, ticket)
      },
    },
  }),
}
