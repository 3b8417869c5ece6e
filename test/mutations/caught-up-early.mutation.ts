import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'caught-up-early',
  why: 'Whoever has caught up was told of all that was appended before; one that does not wait looks in vain for what is under way.',
  mutate: driver => {
    let newest = 0
    driver.records.onCommit(({ writeNumber }) => {
      newest = writeNumber
    })
    return withRecords(driver, { catchUp: async () => newest })
  },
}
