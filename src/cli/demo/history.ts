import type { Door } from './doors.ts'
import { inBatches, type Measurement } from './instruments.ts'
import type { RegisteredInstrument } from './service.ts'
import { type Row, readVoyage } from './voyage.ts'

const day = 86_400_000
/** Number of voyages before today's. */
const daysBefore = 3
const measurementsPerWrite = 60

/** The rows of three copies of the voyage, which end three days, two days and one day before `now`; oldest first. */
export async function earlierRows(now: Date): Promise<readonly Row[]> {
  const ends = Array.from({ length: daysBefore }, (_, at) => now.getTime() - (daysBefore - at) * day)
  const voyages = await Promise.all(ends.map(end => readVoyage(new Date(end))))
  return voyages.flat()
}

/** An acknowledged write. */
export interface SentWrite {
  readonly measurement: Measurement
  /** Milliseconds of `performance.now()`, like `acknowledgedAt`. */
  readonly sentAt: number
  readonly acknowledgedAt: number
}

/** All acknowledged writes of an instrument. */
export interface Passage {
  readonly instrument: RegisteredInstrument
  readonly writes: readonly SentWrite[]
  /** Time from the first write to the last acknowledgement, seconds. */
  readonly seconds: number
}

/**
 * Sends measurements as fast as the server accepts them.
 *
 * @param onStored called after each stored write, with its number of records
 * @throws Error if a write was not acknowledged
 */
export async function sendHistory(
  instrument: RegisteredInstrument,
  door: Door,
  measurements: readonly Measurement[],
  onStored: (records: number) => void,
): Promise<Passage> {
  const begin = performance.now()
  const waiting = inBatches(measurements, measurementsPerWrite).values()
  const writes: SentWrite[] = []
  const sender = async () => {
    for (const measurement of waiting) {
      const sentAt = performance.now()
      await door.write(measurement.records)
      writes.push({ measurement, sentAt, acknowledgedAt: performance.now() })
      if (!measurement.isRefused) onStored(measurement.records.length)
    }
  }
  await Promise.all(Array.from({ length: door.writesInFlight }, sender))
  return { instrument, writes, seconds: (performance.now() - begin) / 1000 }
}
