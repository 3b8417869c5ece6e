import type { StoredRecord } from '../../src/core/record/record.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'removal-told-early',
  why: 'What a removal tells is latest at its place among the commits; one that reads ahead misses what comes between.',
  mutate: driver => {
    const left = new Map<string, StoredRecord | undefined>()
    return withRecords(driver, {
      remove: async (thingId, key, range) => {
        const page = await driver.records.read(thingId, key, { order: 'desc', limit: 10_000 })
        const { from = 0, to = Number.POSITIVE_INFINITY } = range
        const rest = page?.records.find(({ datetime }) => datetime < from || datetime >= to)
        left.set(`${thingId} ${key}`, rest)
        return await driver.records.remove(thingId, key, range)
      },
      onCommit: listener =>
        driver.records.onCommit(commit => {
          const latest = commit.latest.map(({ key, record }) => {
            const name = `${commit.thingId} ${key}`
            return { key, record: left.has(name) ? left.get(name) : record }
          })
          listener({ ...commit, latest })
        }),
    })
  },
}
