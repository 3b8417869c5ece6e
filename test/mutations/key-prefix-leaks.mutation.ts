import { everything, type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'key-prefix-leaks',
  why: 'Keys share nothing; a scan from a key without its terminator runs into `a.b` when asked for `a`.',
  mutate: driver =>
    withRecords(driver, {
      read: async (thingId, key, query) => {
        const keys = (await driver.records.resources(thingId)).filter(other => other.startsWith(key))
        if (keys.length < 2 || query.cursor !== undefined)
          return await driver.records.read(thingId, key, query)
        const all = { ...query, limit: everything }
        const pages = await Promise.all(keys.map(other => driver.records.read(thingId, other, all)))
        const records = pages.flatMap(page => page?.records ?? []).toSorted((a, b) => a.datetime - b.datetime)
        if (query.order === 'desc') records.reverse()
        return { records: records.slice(0, query.limit) }
      },
    }),
}
