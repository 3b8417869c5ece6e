import { type Mutation, withRecords } from './mutation.ts'

/** White space before the opening bracket hides from `measurement` that the text is an object. */
const raw = (value: string) => (/^[[{]/.test(value) ? ` ${value}` : value)

export const mutation: Mutation = {
  name: 'resend-by-member-order',
  why: 'Objects are equal whatever the order of their members; comparing their JSON text keeps both.',
  mutate: driver =>
    withRecords(driver, {
      append: (write, ticket) => {
        const records = write.records.map(record => ({ ...record, value: raw(record.value) }))
        return driver.records.append({ ...write, records }, ticket)
      },
      read: async (thingId, key, query) => {
        const page = await driver.records.read(thingId, key, query)
        if (page === undefined) return undefined
        return {
          ...page,
          records: page.records.map(record => ({ ...record, value: record.value.trimStart() })),
        }
      },
    }),
}
