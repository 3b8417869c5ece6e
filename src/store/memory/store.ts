import { keptRefusals } from '../../core/refusals/refused-write.ts'
import { ThingwireError } from '../../errors.ts'
import type { Receipt, RefusedWrite, RefusedWrites, StoreDriver } from '../contract.ts'
import { GroupCommit } from '../group-commit.ts'
import { ReceiptClock } from '../receipt-clock.ts'
import { createMemoryDocuments } from './documents.ts'
import { createMemoryRecords, type MemoryPendingCommit } from './records.ts'

const commitsPerGroup = 1_000

/** A store for tests: fulfils all of `store/contract.ts` except durability. Its `backup` throws ThingwireError `not_found`. */
export function createMemoryStore(): StoreDriver {
  // Uses groups only so that writes commit in the same order as in a store on disk.
  const commits = new GroupCommit<MemoryPendingCommit, Receipt>(
    { commit: async group => group.map(commit => commit.run()) },
    () => 1,
    commitsPerGroup,
  )
  const documents = createMemoryDocuments(commits)
  const clock = new ReceiptClock()
  const records = createMemoryRecords(commits, documents, clock)
  const refused = createMemoryRefusedWrites()
  return {
    capabilities: { durable: false, shared: false, backup: false },
    records: {
      ...records,
      removeThing: async thingId => {
        await records.removeThing(thingId)
        refused.removeThing(thingId)
      },
    },
    documents,
    refused,
    clock,
    backup: () => {
      throw new ThingwireError('not_found', 'a store in memory has no backup')
    },
    open: async () => clock.start(0),
    close: async () => clock.stop(),
    isReady: () => true,
    size: async () => ({ bytes: 0 }),
  }
}

function createMemoryRefusedWrites(): RefusedWrites & { removeThing(thingId: string): void } {
  /** Refused writes by thing id, newest first. */
  const kept = new Map<string, readonly RefusedWrite[]>()

  return {
    add: async (thingId, refused) => {
      kept.set(thingId, [refused, ...(kept.get(thingId) ?? [])].slice(0, keptRefusals))
    },
    list: async (thingId, limit) => (kept.get(thingId) ?? []).slice(0, limit),
    removeThing: thingId => kept.delete(thingId),
  }
}
