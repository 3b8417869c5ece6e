import { storedForm } from '../../src/core/record/record.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'log-as-stored',
  why: 'The log gives commits as they were told; one that is read back from what is stored has lost the spelling.',
  mutate: driver =>
    withRecords(driver, {
      readLog: async query =>
        (await driver.records.readLog(query)).map(commit => ({
          ...commit,
          records: commit.records.map(record => {
            const { place, explicit } = record
            return { ...storedForm(record), place, explicit }
          }),
        })),
    }),
}
