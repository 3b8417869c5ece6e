import type { Door } from './doors.ts'
import { createProgress } from './progress.ts'
import type { Voyage, VoyageRecord } from './voyage.ts'

/** Eight seconds of sailing; the wind is in every other row. */
const rowsPerWrite = 4

/** What went through one door. */
export interface Passage {
  readonly door: Door
  /** Acknowledged writes. */
  readonly writes: number
  /** Records in them. */
  readonly records: number
  /** From the first write to the last acknowledgement. */
  readonly seconds: number
}

/**
 * Sends a few rows a write, one write through one door and the next through the other, both doors at the same time.
 *
 * @throws Error of a write that was not acknowledged
 */
export async function sail(voyage: Voyage, doors: readonly Door[]): Promise<Passage[]> {
  const bodies = inWrites(voyage)
  const show = createProgress('records stored:', voyage.records.length)
  let stored = 0
  const pass = (door: Door, index: number) => {
    const own = bodies.filter((_, write) => write % doors.length === index)
    return passThrough(door, own, records => {
      stored += records
      show(stored)
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
  let writes = 0
  let records = 0
  const sender = async () => {
    for (const body of waiting) {
      await door.write(body)
      writes += 1
      records += body.length
      onStored(body.length)
    }
  }
  await Promise.all(Array.from({ length: door.writesInFlight }, sender))
  return { door, writes, records, seconds: (performance.now() - begin) / 1000 }
}

function inWrites({ rows }: Voyage): VoyageRecord[][] {
  const count = Math.ceil(rows.length / rowsPerWrite)
  return Array.from({ length: count }, (_, write) =>
    rows.slice(write * rowsPerWrite, (write + 1) * rowsPerWrite).flat(),
  )
}
