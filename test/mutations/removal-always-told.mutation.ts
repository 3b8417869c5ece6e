import type { Commit } from '../../src/store/contract.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'removal-always-told',
  why: 'A removal that leaves the newest record tells nothing; one that always tells repeats what is known.',
  mutate: driver => {
    const listeners = new Set<(commit: Commit) => void>()
    return withRecords(driver, {
      onCommit: listener => {
        listeners.add(listener)
        const stop = driver.records.onCommit(listener)
        return () => {
          listeners.delete(listener)
          stop()
        }
      },
      remove: async (thingId, key, range) => {
        let isTold = false
        const stop = driver.records.onCommit(() => {
          isTold = true
        })
        const removed = await driver.records.remove(thingId, key, range)
        stop()
        if (isTold || removed === 0) return removed
        const page = await driver.records.read(thingId, key, { order: 'desc', limit: 1 })
        const latest = [{ key, record: page?.records[0] }]
        const commit = { thingId, writeNumber: 1, receivedAt: 1, records: [], latest }
        for (const listener of listeners) listener({ ...commit, stored: true, broadcast: true })
        return removed
      },
    })
  },
}
