import { ThingwireError } from '../../errors.ts'
import type { StoreDriver } from '../contract.ts'
import { createMemoryDocuments } from './documents.ts'
import { createMemoryRecords } from './records.ts'
import { createMemoryRefusedWrites } from './refused.ts'

/**
 * A store for tests: keeps every promise of `store/contract.ts` but durability, and forgets all when it is dropped.
 * Its `backup` throws ThingwireError `not_found`.
 */
export function createMemoryStore(): StoreDriver {
  const records = createMemoryRecords()
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
    documents: createMemoryDocuments(),
    refused,
    backup: () => {
      throw new ThingwireError('not_found', 'a store in memory has no backup')
    },
    open: async () => {},
    close: async () => {},
    isReady: () => true,
  }
}
