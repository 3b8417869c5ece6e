import { packedForm } from '../../src/store/level/chunks/packed-chunk.ts'
import { countIn } from '../../src/store/level/chunks/record-chunk.ts'
import { type Compaction, usualCompaction } from '../../src/store/level/compaction/compactor.ts'
import { scan } from '../../src/store/level/database/scan.ts'
import { keysOf, prefix, resourceInRecordKey } from '../../src/store/level/keys.ts'
import { packAll, withDatabase } from '../../test/store/level/compaction/packed-store.ts'

/** The records of a store, by whether they are in packed chunks. */
export interface RecordCounts {
  readonly packed: number
  readonly unpacked: number
  readonly resources: number
}

const { newest, least } = usualCompaction
/** Of a resource, records that the compactor leaves as they were written until more come. */
export const leftOfResource = newest + least

/** A store that packs nothing before it is closed again. */
export const noPacking: Compaction = { ...usualCompaction, firstLook: 2 ** 31 - 1 }

/**
 * Packs a store that nobody has open, without the rests of the compactor.
 *
 * @returns how long the compactor needed, seconds
 * @throws Error if something is left that is to be packed
 */
export async function packStore(location: string): Promise<number> {
  // The compactor's own timers do not keep a process alive.
  const alive = setInterval(() => {}, 1_000)
  const begin = performance.now()
  await packAll(location).finally(() => clearInterval(alive))
  const seconds = (performance.now() - begin) / 1_000
  const { unpacked, resources } = await countRecords(location)
  // What was written together is left together.
  if (unpacked > 2 * leftOfResource * resources)
    throw new Error(`${unpacked} records of ${resources} resources are not packed`)
  return seconds
}

/** Counts what is in a store that nobody has open. */
export async function countRecords(location: string): Promise<RecordCounts> {
  const resources = new Set<number>()
  let packed = 0
  let unpacked = 0
  await withDatabase(location, async database => {
    for await (const entries of scan(database, keysOf(prefix.record))) {
      for (const [name, value] of entries) {
        resources.add(resourceInRecordKey(name))
        if (value[0] === packedForm) packed += countIn(value)
        else unpacked += countIn(value)
      }
    }
  })
  return { packed, unpacked, resources: resources.size }
}
