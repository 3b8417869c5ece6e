import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'log-trimmed-up-to',
  why: 'A trim takes the commits that it names; one up to the newest of them takes what others still need.',
  mutate: driver =>
    withRecords(driver, {
      trimLog: async writeNumbers => {
        const before = Math.max(0, ...writeNumbers) + 1
        const older = await driver.records.readLog({ after: 0, before, order: 'asc', limit: 10_000 })
        await driver.records.trimLog(older.map(({ writeNumber }) => writeNumber))
      },
    }),
}
