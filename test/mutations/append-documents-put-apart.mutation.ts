import { waitedFor } from '../../src/conformance/writes.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'append-documents-put-apart',
  why: 'Records and documents are one commit; a store that makes two of them shows the one without the other.',
  mutate: driver =>
    withRecords(driver, {
      append: async ({ documents = {}, ...write }, ticket) => {
        const receipt = await driver.records.append(write, ticket)
        await driver.documents.put(documents, 'keep', waitedFor())
        return receipt
      },
    }),
}
