import { readVoyage } from '../../src/cli/demo/voyage.ts'
import type { NewRecord } from '../../src/core/record/record.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { openStore } from '../../src/store/open-store.ts'

export interface FillOptions {
  readonly location: string
  readonly thingId: string
  /** A multiple of 100. */
  readonly records: number
  readonly onProgress?: (done: number) => void
}

const keys = ['speed', 'course', 'waterSpeed', 'depth', 'heel']
const recordsPerWrite = 100
const writesInFlight = 16

/**
 * Appends `records` records, the newest of them now, through the store as a door would: writes of 100 records, 16 in flight, synced,
 * the voyage's own values and positions over and over, two seconds a row, spread evenly over five resources.
 */
export async function fill({ location, thingId, records, onProgress }: FillOptions): Promise<void> {
  const store = await openStore(createLevelStore({ location }))
  const voyage = (await readVoyage(new Date())).flatMap(row => row.records)
  const start = Date.now() - (records / keys.length) * 2_000
  let next = 0
  const sender = async () => {
    while (next < records) {
      const batch: NewRecord[] = []
      for (let place = 0; place < recordsPerWrite; place++, next++) {
        const { value, geo } = voyage[next % voyage.length] ?? { value: 0, geo: { lat: 0, long: 0 } }
        const key = keys[next % keys.length] ?? ''
        const datetime = start + Math.floor(next / keys.length) * 2_000
        batch.push({ key, datetime, value: JSON.stringify(value), geo, place, explicit: true })
      }
      await store.records.append({ thingId, records: batch, store: true, broadcast: true, answer: {} })
      onProgress?.(next)
    }
  }
  await Promise.all(Array.from({ length: writesInFlight }, sender))
  await store.close()
}
