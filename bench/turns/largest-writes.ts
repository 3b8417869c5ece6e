import { createThing, write } from '../../test/helpers/http-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'

/** Records in a write: as many as one may carry (contract §2). */
const records = 10_000
const resources = 10
/** Milliseconds between two records of a write. */
const interval = 1_000

/** What each of the writes looks like that are sent one after another, by what it is called. */
const kinds = {
  'HTTP, 10,000 values without datetime': () => [valuesOf(() => undefined)],
  'HTTP, 10,000 values in time order, and then 10,000 between them': (round: number) => {
    const begin = Date.UTC(2026, 0, 1) + round * records * interval
    const at = (place: number) => new Date(begin + place * interval).toISOString()
    return [valuesOf(at), valuesOf(place => at(place + 0.5))]
  },
}

export type WritesOf = (round: number) => readonly (readonly object[])[]

export const largestWrites: readonly (readonly [load: string, writesOf: WritesOf])[] = Object.entries(kinds)

/**
 * Sends the writes of some rounds to a new thing.
 *
 * @throws Error if one is not stored
 */
export async function sendLargestWrites(
  server: ServerProcess,
  writesOf: WritesOf,
  rounds: number,
): Promise<void> {
  const thing = await createThing(server)
  for (let round = 0; round < rounds; round++) {
    for (const values of writesOf(round)) {
      const { status } = await write(server, thing, { values })
      if (status !== 201) throw new Error(`a write was answered with ${status}`)
    }
  }
}

function valuesOf(datetime: (place: number) => string | undefined): object[] {
  return Array.from({ length: records }, (_, place) => {
    return { key: `sensor-${place % resources}`, value: 20 + place / 1_000, datetime: datetime(place) }
  })
}
