import type { Document } from '../../src/store/contract.ts'
import type { Mutation } from './mutation.ts'

export const mutation: Mutation = {
  name: 'documents-lost-update',
  why: 'Nothing changes documents between reading and putting them; read, then write, loses an update in between.',
  mutate: driver => ({
    ...driver,
    documents: {
      get: name => driver.documents.get(name),
      list: (...query) => driver.documents.list(...query),
      names: (...query) => driver.documents.names(...query),
      put: (...put) => driver.documents.put(...put),
      transact: async (names, change) => {
        const read: (Document | undefined)[] = []
        for (const name of names) read.push(await driver.documents.get(name))
        const decided = change(read)
        return await driver.documents.transact(names, () => decided)
      },
    },
  }),
}
