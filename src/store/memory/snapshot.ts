import { maximumPageText } from '../../core/ports.ts'
import { ThingwireError } from '../../errors.ts'
import type { LatestOfThing, LatestQuery, Snapshot } from '../contract.ts'

const maximumPageRecords = 256

/** @param latest everything that is latest after the commit `writeNumber` */
export function createMemorySnapshot(writeNumber: number, latest: readonly LatestOfThing[]): Snapshot {
  let isOpen = true

  return {
    writeNumber,
    async *latest(query) {
      const selected = latest.filter(each => isSelected(each, query))
      for (let from = 0; from < selected.length; ) {
        if (!isOpen) throw new ThingwireError('store_unavailable', 'the snapshot is closed')
        const page = selected.slice(from, from + lengthOfPage(selected, from))
        from += page.length
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

function lengthOfPage(selected: readonly LatestOfThing[], from: number): number {
  let characters = 0
  let length = 0
  while (from + length < selected.length && length < maximumPageRecords && characters < maximumPageText) {
    characters += selected[from + length]?.record.value.length ?? 0
    length++
  }
  return length
}
