import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'ties-by-place-as-text',
  why: 'Records of one write and datetime stand in their places; places kept as text put 10 before 2.',
  mutate: driver =>
    withRecords(driver, {
      append: (write, ticket) => {
        const sorted = write.records.toSorted((a, b) => (String(a.place) < String(b.place) ? -1 : 1))
        const records = sorted.map((record, place) => ({ ...record, place }))
        return driver.records.append({ ...write, records }, ticket)
      },
    }),
}
