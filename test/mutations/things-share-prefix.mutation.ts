import { type Mutation, withRecords } from './mutation.ts'

const cut = (thingId: string) => thingId.slice(0, 15)

export const mutation: Mutation = {
  name: 'things-share-prefix',
  why: 'Things share nothing; a key with room for 15 characters of the id makes two of them one.',
  mutate: driver =>
    withRecords(driver, {
      append: (write, ticket) => driver.records.append({ ...write, thingId: cut(write.thingId) }, ticket),
      read: (thingId, ...query) => driver.records.read(cut(thingId), ...query),
      resources: thingId => driver.records.resources(cut(thingId)),
      remove: (thingId, ...range) => driver.records.remove(cut(thingId), ...range),
      removeThing: thingId => driver.records.removeThing(cut(thingId)),
      answerOf: (thingId, ...id) => driver.records.answerOf(cut(thingId), ...id),
    }),
}
