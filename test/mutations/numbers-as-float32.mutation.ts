import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'numbers-as-float32',
  why: 'Values come back to the letter; a column of single precision rounds what it can not hold.',
  mutate: driver =>
    withRecords(driver, {
      append: (write, ticket) => {
        const records = write.records.map(record => {
          const value: unknown = JSON.parse(record.value)
          const isLarge = typeof value === 'number' && Math.abs(value) > 3.4e38
          return typeof value === 'number' && !isLarge
            ? { ...record, value: JSON.stringify(Math.fround(value)) }
            : record
        })
        return driver.records.append({ ...write, records }, ticket)
      },
    }),
}
