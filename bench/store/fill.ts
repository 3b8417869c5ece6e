import { readVoyage } from '../../src/cli/demo/voyage.ts'
import type { NewRecord } from '../../src/core/record/record.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { openStore } from '../../src/store/open-store.ts'
import { bytesWritten } from '../peers/processes.ts'

export interface Filling {
  /** Records a second in each slice, in order. */
  readonly rates: readonly number[]
  /** Bytes that the process wrote to disk, per record. */
  readonly bytesPerRecord: number
  readonly keys: readonly string[]
}

export interface FillOptions {
  readonly location: string
  readonly thingId: string
  readonly records: number
  /** How many records make one rate. */
  readonly slice: number
  /** Datetime behind the newest record, milliseconds. Default now. */
  readonly end?: number
  readonly onProgress?: (done: number) => void
}

const keys = ['speed', 'course', 'waterSpeed', 'depth', 'heel']
const recordsPerWrite = 100
const writesInFlight = 16

/**
 * Appends `records` records through the store as a door would: writes of 100 records, 16 in flight, synced, the
 * voyage's own values and positions over and over, two seconds a row, spread evenly over five resources.
 */
export async function fill(options: FillOptions): Promise<Filling> {
  const { location, thingId, records, slice, end: behind = Date.now(), onProgress } = options
  const store = await openStore(createLevelStore({ location }))
  const voyage = (await readVoyage(new Date())).flatMap(row => row.records)
  const start = behind - (records / keys.length) * 2_000
  const rates: number[] = []
  const writtenBefore = bytesWritten(process.pid)
  let next = 0
  const write = async () => {
    const batch: NewRecord[] = []
    for (let place = 0; place < recordsPerWrite; place++, next++) {
      const { value, geo } = voyage[next % voyage.length] ?? { value: 0, geo: { lat: 0, long: 0 } }
      const key = keys[next % keys.length] ?? ''
      const datetime = start + Math.floor(next / keys.length) * 2_000
      batch.push({ key, datetime, value: JSON.stringify(value), geo, place, explicit: true })
    }
    await store.records.append({ thingId, records: batch, store: true, broadcast: true, answer: {} })
  }
  for (let end = slice; end <= records; end += slice) {
    const begin = performance.now()
    const sender = async () => {
      while (next < end) await write()
    }
    await Promise.all(Array.from({ length: writesInFlight }, sender))
    rates.push((slice / (performance.now() - begin)) * 1000)
    onProgress?.(next)
  }
  await store.close()
  return { rates, bytesPerRecord: (bytesWritten(process.pid) - writtenBefore) / records, keys }
}
