import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'states-told-not-kept',
  why: 'The states of a commit are kept with it; a store that only passes them on to listeners forgets them.',
  mutate: driver =>
    withRecords(driver, {
      append: (write, ticket) => {
        const store = write.store && (write.records.length > 0 || write.states === undefined)
        return driver.records.append({ ...write, store }, ticket)
      },
    }),
}
