import type { Door } from './doors.ts'
import type { Voyage, VoyageRecord } from './voyage.ts'

/** Eight seconds of sailing; the wind is in every other row. */
const rowsPerWrite = 4

/** A write that is acknowledged. */
export interface SailedWrite {
  readonly records: readonly VoyageRecord[]
  /** Milliseconds, as `performance.now()`. */
  readonly sentAt: number
  readonly acknowledgedAt: number
}

/** What went through one door. */
export interface Passage {
  readonly door: Door
  readonly writes: readonly SailedWrite[]
  /** Records in them. */
  readonly records: number
  /** From the first write to the last acknowledgement. */
  readonly seconds: number
}

/**
 * As fast as the server takes it: sends a few rows a write, one write through one door and the next through the other, both doors at the same time.
 *
 * @param onStored told how many records are stored, each time that a write is acknowledged
 * @throws Error of a write that was not acknowledged
 */
export async function sail(
  voyage: Voyage,
  doors: readonly Door[],
  onStored: (records: number) => void,
): Promise<Passage[]> {
  const bodies = inWrites(voyage)
  let stored = 0
  const pass = (door: Door, index: number) => {
    const own = bodies.filter((_, write) => write % doors.length === index)
    return passThrough(door, own, records => {
      stored += records
      onStored(stored)
    })
  }
  return await Promise.all(doors.map(pass))
}

async function passThrough(
  door: Door,
  bodies: readonly (readonly VoyageRecord[])[],
  onStored: (records: number) => void,
): Promise<Passage> {
  const begin = performance.now()
  const waiting = bodies.values()
  const writes: SailedWrite[] = []
  const sender = async () => {
    for (const records of waiting) {
      const sentAt = performance.now()
      await door.write(records)
      writes.push({ records, sentAt, acknowledgedAt: performance.now() })
      onStored(records.length)
    }
  }
  await Promise.all(Array.from({ length: door.writesInFlight }, sender))
  const records = bodies.flat().length
  return { door, writes, records, seconds: (performance.now() - begin) / 1000 }
}

function inWrites({ rows }: Voyage): VoyageRecord[][] {
  const count = Math.ceil(rows.length / rowsPerWrite)
  return Array.from({ length: count }, (_, write) =>
    rows.slice(write * rowsPerWrite, (write + 1) * rowsPerWrite).flatMap(row => row.records),
  )
}
