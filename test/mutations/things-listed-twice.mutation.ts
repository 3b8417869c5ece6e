import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'things-listed-twice',
  why: 'A page of things begins behind the last one of the page before; one that begins with it never ends.',
  mutate: driver =>
    withRecords(driver, {
      things: async ({ after, limit }) => {
        const all = await driver.records.things({ limit: Number.MAX_SAFE_INTEGER })
        return all.filter(thingId => after === undefined || thingId >= after).slice(0, limit)
      },
    }),
}
