import { setTimeout as delay } from 'node:timers/promises'
import type { Door } from './doors.ts'
import type { Row } from './voyage.ts'

/**
 * Sends each row when it is measured, one through one door and the next through the other.
 *
 * @param onStored told how many rows are stored, each time that one is acknowledged
 * @param stopping ends it after the writes that are under way
 * @throws Error of a write that was not acknowledged
 */
export async function sailInTime(
  rows: readonly Row[],
  doors: readonly Door[],
  onStored: (rows: number) => void,
  stopping: AbortSignal,
): Promise<void> {
  let stored = 0
  const pass = async (door: Door, index: number) => {
    for (const { measuredAt, records } of rows.filter((_, row) => row % doors.length === index)) {
      const wait = Math.max(0, measuredAt - Date.now())
      await delay(wait, undefined, { signal: stopping }).catch(() => {})
      if (stopping.aborted) return
      await door.write(records)
      onStored(++stored)
    }
  }
  await Promise.all(doors.map(pass))
}
