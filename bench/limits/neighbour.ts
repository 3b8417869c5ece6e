import { bodyOf, type Doors, writeSteadily } from '../load/doors.ts'
import { type Door, key } from './noisy.ts'

/** Writes a second through each door: less than the limit, so that it is nobody's doing but its own if it waits. */
const writesPerSecond = 40

/** How long each ack took, milliseconds. */
export type Latencies = Record<Door, number[]>

/** A thing that keeps to its limits writes through both doors for so many milliseconds: how long it waits for its acks. */
export async function measureNeighbour(doors: Doors, duration: number, into: Latencies): Promise<void> {
  const end = performance.now() + duration
  let value = 0
  const measure = (door: Door) =>
    writeSteadily(
      writesPerSecond,
      () => performance.now() < end,
      () => doors.write(door, bodyOf(key, value++)),
      (_, took) => into[door].push(took),
    )
  await Promise.all([measure('MQTT'), measure('HTTP')])
}
