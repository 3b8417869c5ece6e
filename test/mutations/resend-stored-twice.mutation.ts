import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'resend-stored-twice',
  why: 'A resent record is stored once; a store without the check keeps every copy.',
  mutate: driver =>
    withRecords(driver, {
      append: (write, ticket) => {
        const records = write.records.map(record => ({ ...record, explicit: false }))
        return driver.records.append({ ...write, records }, ticket)
      },
    }),
}
