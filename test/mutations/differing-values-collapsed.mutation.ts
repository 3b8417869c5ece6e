import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'differing-values-collapsed',
  why: 'Two values of one datetime are both kept; a primary key of thing, key and datetime keeps one.',
  mutate: driver => {
    const taken = new Set<string>()
    return withRecords(driver, {
      append: (write, ticket) => {
        const records = write.records.map(record => {
          const point = `${write.thingId} ${record.key} ${record.datetime}`
          const first = record.datetime === undefined || !taken.has(point)
          if (record.datetime !== undefined) taken.add(point)
          // As good as not stored: it is where no reader looks.
          return first ? record : { ...record, key: `${record.key}.collapsed` }
        })
        return driver.records.append({ ...write, records }, ticket)
      },
    })
  },
}
