import type { RefusedWrite, RefusedWrites } from '../contract.ts'

const maximumKept = 100

export interface MemoryRefusedWrites extends RefusedWrites {
  removeThing(thingId: string): void
}

export function createMemoryRefusedWrites(): MemoryRefusedWrites {
  /** By thing id, newest first. */
  const kept = new Map<string, readonly RefusedWrite[]>()

  return {
    add: async (thingId, refused) => {
      kept.set(thingId, [refused, ...(kept.get(thingId) ?? [])].slice(0, maximumKept))
    },
    list: async (thingId, limit) => (kept.get(thingId) ?? []).slice(0, limit),
    removeThing: thingId => kept.delete(thingId),
  }
}
