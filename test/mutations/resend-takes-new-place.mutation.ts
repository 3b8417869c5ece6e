import { measurement } from '../../src/core/record/record.ts'
import { everything, type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'resend-takes-new-place',
  why: 'A resent record keeps its first place; an upsert by content moves it behind its ties.',
  mutate: driver =>
    withRecords(driver, {
      append: async (write, ticket) => {
        for (const record of write.store ? write.records : []) {
          const { datetime, explicit } = record
          if (!explicit) continue
          const tie = { from: datetime, to: datetime + 1 }
          const query = { ...tie, order: 'asc', limit: everything } as const
          const stored = (await driver.records.read(write.thingId, record.key, query))?.records ?? []
          const others = stored.filter(other => measurement(other) !== measurement(record))
          if (others.length === stored.length) continue
          await driver.records.remove(write.thingId, record.key, tie)
          if (others.length === 0) continue
          const records = others.map((other, place) => ({ ...other, place, explicit }))
          const { id: _, ...rest } = write
          await driver.records.append({ ...rest, records }, ticket)
        }
        return await driver.records.append(write, ticket)
      },
    }),
}
