import { isDeepStrictEqual } from 'node:util'
import type { SentWrite } from './history.ts'
import type { InstrumentRecord } from './instruments.ts'
import { positionKey } from './voyage.ts'

/**
 * Whether every reading of every write has arrived once and in order: those of a write together, as they stood in it,
 * and no write before one that had been acknowledged when it was sent.
 *
 * @returns what is wrong; undefined if nothing is
 */
export function faultIn(
  arrived: readonly InstrumentRecord[],
  writes: readonly SentWrite[],
): string | undefined {
  const awaited = new Map(
    writes.filter(write => !write.measurement.isRefused).map(write => [nameOf(readingsOf(write)[0]), write]),
  )
  let newestSent = 0
  for (let place = 0; place < arrived.length; ) {
    const name = nameOf(arrived[place])
    const write = awaited.get(name)
    if (!write) return `${name} arrived where no write begins, or again`
    awaited.delete(name)
    const readings = readingsOf(write)
    if (!isDeepStrictEqual(arrived.slice(place, place + readings.length), readings)) {
      return `the write of ${name} did not arrive as it was sent`
    }
    if (write.acknowledgedAt < newestSent) return `${name} arrived after a write that was sent later`
    newestSent = Math.max(newestSent, write.sentAt)
    place += readings.length
  }
  return awaited.size > 0 ? `${awaited.size} writes did not arrive` : undefined
}

/** Positions are told when they are the thing's: not with their write. */
export function readingsOf({ measurement }: Pick<SentWrite, 'measurement'>): readonly InstrumentRecord[] {
  return measurement.isRefused ? [] : measurement.records.filter(({ key }) => key !== positionKey)
}

/** The voyage has one record of a resource at a time. */
function nameOf(record: InstrumentRecord | undefined): string {
  return `${record?.key} at ${record?.datetime}`
}
