import { keptRefusals } from '../../core/refusals/refused-write.ts'
import type { RefusedWrite, RefusedWrites } from '../contract.ts'

interface MemoryRefusedWrites extends RefusedWrites {
  removeThing(thingId: string): void
}

export function createMemoryRefusedWrites(): MemoryRefusedWrites {
  /** By thing id, newest first. */
  const kept = new Map<string, readonly RefusedWrite[]>()

  return {
    add: async (thingId, refused) => {
      kept.set(thingId, [refused, ...(kept.get(thingId) ?? [])].slice(0, keptRefusals))
    },
    list: async (thingId, limit) => (kept.get(thingId) ?? []).slice(0, limit),
    removeThing: thingId => kept.delete(thingId),
  }
}
