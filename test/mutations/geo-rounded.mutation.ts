import { type Mutation, withRecords } from './mutation.ts'

const rounded = (degrees: number) => Math.round(degrees * 1e7) / 1e7

export const mutation: Mutation = {
  name: 'geo-rounded',
  why: 'A position comes back as it was sent; degrees kept in ten-millionths do not.',
  mutate: driver =>
    withRecords(driver, {
      append: (write, ticket) => {
        const records = write.records.map(({ geo, ...record }) =>
          geo ? { ...record, geo: { lat: rounded(geo.lat), long: rounded(geo.long) } } : record,
        )
        return driver.records.append({ ...write, records }, ticket)
      },
    }),
}
