import type { Mutation } from './mutation.ts'

export const mutation: Mutation = {
  name: 'put-half-seen',
  why: 'The documents of a put change as one; a store that puts one after the other shows some of them changed.',
  mutate: driver => ({
    ...driver,
    documents: {
      ...driver.documents,
      put: async (documents, purpose, ticket) => {
        for (const [name, document] of Object.entries(documents)) {
          await driver.documents.put({ [name]: document }, purpose, ticket)
        }
      },
    },
  }),
}
