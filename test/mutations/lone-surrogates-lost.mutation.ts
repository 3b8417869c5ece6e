import { type Mutation, withRecords } from './mutation.ts'

const throughUtf8 = (_: string, value: unknown) =>
  typeof value === 'string' ? Buffer.from(value).toString() : value

export const mutation: Mutation = {
  name: 'lone-surrogates-lost',
  why: 'Values come back to the letter; text that passes through UTF-8 loses what UTF-8 cannot say.',
  mutate: driver =>
    withRecords(driver, {
      append: (write, ticket) => {
        const records = write.records.map(record => {
          return { ...record, value: JSON.stringify(JSON.parse(record.value), throughUtf8) }
        })
        return driver.records.append({ ...write, records }, ticket)
      },
    }),
}
