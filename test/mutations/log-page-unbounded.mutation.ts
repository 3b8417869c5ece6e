import type { Commit } from '../../src/store/contract.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'log-page-unbounded',
  why: 'A page of the log ends where its text is long; one that counts entries alone can be of any size.',
  mutate: driver =>
    withRecords(driver, {
      readLog: async query => {
        const all: Commit[] = []
        let { after, before } = query
        for (;;) {
          const page = await driver.records.readLog({ ...query, after, before })
          all.push(...page)
          const last = page.at(-1)?.writeNumber
          if (last === undefined || all.length >= query.limit) return all.slice(0, query.limit)
          if (query.order === 'asc') after = last
          else before = last
        }
      },
    }),
}
