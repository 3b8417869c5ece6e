import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'late-records-moved',
  why: 'A late record takes its place by datetime; a log that only grows at its end puts it behind the newest.',
  mutate: driver => {
    const newest = new Map<string, number>()
    return withRecords(driver, {
      append: (write, ticket) => {
        const records = write.records.map(record => {
          if (record.datetime === undefined) return record
          const resource = `${write.thingId} ${record.key}`
          const datetime = Math.max(record.datetime, newest.get(resource) ?? 0)
          newest.set(resource, datetime)
          return { ...record, datetime }
        })
        return driver.records.append({ ...write, records }, ticket)
      },
    })
  },
}
