import { join } from 'node:path'
import { createLevelStore } from '../../src/store/level/index.ts'
import { openThings } from '../../src/things.ts'
import type { Thing } from '../../test/helpers/http-client.ts'

/** A key that every thing has, and one that few have. */
export const keys = { common: 'common', rare: 'rare' }

export interface FillOptions {
  readonly dataDir: string
  readonly adminKey: string
  readonly things: number
  readonly resourcesEach: number
  /** Things that have the rare key, too. */
  readonly rare: number
  readonly onProgress?: (done: number) => void
}

const inFlight = 64

/** Makes things and gives each one record of each of its resources, before the server is started. */
export async function fill(options: FillOptions): Promise<Thing[]> {
  const { dataDir, adminKey, things, resourcesEach, rare, onProgress } = options
  const service = await openThings({
    store: createLevelStore({ location: join(dataDir, 'store') }),
    adminKey,
  })
  const made: Thing[] = []
  const names = [keys.common, ...Array.from({ length: resourcesEach - 1 }, (_, index) => `key-${index}`)]
  let begun = 0
  const worker = async () => {
    while (begun < things) {
      const place = begun++
      const thing = await service.registry.create({})
      const own = place < rare ? [...names, keys.rare] : names
      await service.records.append({
        thingId: thing.thingId,
        records: own.map((key, place) => ({
          key,
          datetime: Number.NaN,
          value: '21.5',
          place,
          explicit: false,
        })),
        store: true,
        broadcast: true,
        answer: {},
      })
      made.push(thing)
      onProgress?.(made.length)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  await service.close()
  return made
}
