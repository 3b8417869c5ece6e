import { setTimeout as delay } from 'node:timers/promises'
import type { Door } from './doors.ts'
import type { Measurement } from './instruments.ts'

/**
 * Sends each measurement when it is made.
 *
 * @param onStored told the time of each measurement that is acknowledged, milliseconds since 1970
 * @param stopping ends it after the write that is under way
 * @throws Error of a write that was not acknowledged
 */
export async function sendInTime(
  door: Door,
  measurements: readonly Measurement[],
  onStored: (measuredAt: number) => void,
  stopping: AbortSignal,
): Promise<void> {
  for (const { measuredAt, records } of measurements) {
    const wait = Math.max(0, measuredAt - Date.now())
    await delay(wait, undefined, { signal: stopping }).catch(() => {})
    if (stopping.aborted) return
    await door.write(records)
    onStored(measuredAt)
  }
}
