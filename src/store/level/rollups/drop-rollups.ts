import type { Batch } from '../database/database.ts'
import { type Readable, scan } from '../database/scan.ts'
import { rollupKeys } from '../keys.ts'
import { dayOf } from './days.ts'

/**
 * Has a batch that removes records remove the rollups of their days.
 *
 * @param from milliseconds; default: from the first on
 * @param to milliseconds, inclusive; default: to the last
 */
export async function dropRollups(
  database: Readable,
  batch: Batch,
  resource: number,
  from = 0,
  to?: number,
): Promise<void> {
  const days = rollupKeys(resource, dayOf(from), to === undefined ? undefined : to + 1)
  for await (const entries of scan(database, days)) for (const [key] of entries) batch.del(key)
}
