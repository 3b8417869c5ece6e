import type { StoreSize } from '../../contract.ts'
import type { Client } from '../script.ts'
import { mastersOf } from './connection.ts'
import { storeError } from './database.ts'
import { serverSettings } from './server-settings.ts'

/**
 * The memory that Redis uses, whatever is in it; of a cluster that of the master that uses most, which is the one that has
 * the database.
 *
 * @throws ThingwireError store_unavailable
 */
export async function memorySize(client: Client): Promise<StoreSize> {
  try {
    const settings = await Promise.all(mastersOf(client).map(serverSettings))
    const sizes = settings.map(({ usedMemory, maxmemory }) =>
      sizeOf(Number(usedMemory ?? 0), Number(maxmemory)),
    )
    return sizes.reduce((most, size) => (size.bytes > most.bytes ? size : most), { bytes: 0 })
  } catch (error) {
    throw storeError(error)
  }
}

function sizeOf(bytes: number, maxmemory: number): StoreSize {
  return maxmemory > 0 ? { bytes, limit: maxmemory } : { bytes }
}
