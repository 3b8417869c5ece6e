import type { Commit } from '../../src/store/contract.ts'
import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'resend-told-again',
  why: 'A resent record is not broadcast again; a store that announces the write, not what it stored, repeats it.',
  mutate: driver => {
    const listeners = new Set<(commit: Commit) => void>()
    const receiptTimes = new Map<number, number>()
    driver.records.onCommit(({ writeNumber, receivedAt }) => receiptTimes.set(writeNumber, receivedAt))
    return withRecords(driver, {
      append: async (write, ticket) => {
        const receipt = await driver.records.append(write, ticket)
        const { thingId, records, broadcast, store: stored, states: latest = [] } = write
        if (receipt.writeNumber === 0) return receipt
        const receivedAt = receiptTimes.get(receipt.writeNumber) ?? 0
        for (const listener of listeners) {
          listener({
            thingId,
            writeNumber: receipt.writeNumber,
            receivedAt,
            records,
            latest,
            stored,
            broadcast,
          })
        }
        return receipt
      },
      onCommit: listener => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    })
  },
}
