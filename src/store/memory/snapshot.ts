import { ThingwireError } from '../../errors.ts'
import type { LatestOfThing, LatestQuery, Snapshot } from '../contract.ts'
import { latestPages } from '../latest-pages.ts'

/** @param latest everything that is latest after the commit `writeNumber` */
export function createMemorySnapshot(writeNumber: number, latest: readonly LatestOfThing[]): Snapshot {
  let isOpen = true

  return {
    writeNumber,
    async *latest(query) {
      const selected = latest.filter(each => isSelected(each, query))
      for await (const page of latestPages([selected])) {
        if (!isOpen) throw new ThingwireError('store_unavailable', 'the snapshot is closed')
        yield page
      }
    },
    close: async () => {
      isOpen = false
    },
  }
}

function isSelected(each: LatestOfThing, { thingId, key }: LatestQuery): boolean {
  return (thingId === undefined || each.thingId === thingId) && (key === undefined || each.key === key)
}
