import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'old-of-silent-kept',
  why: 'Of a resource of which all is old all but the newest record goes; a store that looks at the newest first may leave all of it.',
  mutate: driver =>
    withRecords(driver, {
      removeOld: async (thingId, key, before, from) => {
        const page = await driver.records.read(thingId, key, { order: 'desc', limit: 1 })
        const isSilent = (page?.records[0]?.datetime ?? before) < before
        return isSilent ? { count: 0 } : await driver.records.removeOld(thingId, key, before, from)
      },
    }),
}
