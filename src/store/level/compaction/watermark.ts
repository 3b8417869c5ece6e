import type { Batch, Database } from '../database/database.ts'
import { keyOfPosition, packedKey, positionBytes, resourceInRecordKey } from '../keys.ts'

/**
 * The watermark of a resource, a record key: what stands in front of it is packed, so that the compactor need not look at it again. What
 * changes something there lowers the watermark in its batch. It says where to look and nothing else: with any watermark, or none, every
 * record is read as it is.
 */

/** Undefined if nothing of the resource was packed. */
export async function readWatermark(database: Database, resource: number): Promise<Buffer | undefined> {
  const bytes = await database.level.get(packedKey(resource))
  return bytes && keyOfPosition(resource, bytes)
}

export function putWatermark(batch: Batch, watermark: Buffer): void {
  batch.put(packedKey(resourceInRecordKey(watermark)), positionBytes(watermark))
}

/**
 * Has a batch that changes something from a record key on lower the watermark to it.
 *
 * @returns the watermark, if it is lowered
 */
export async function lowerWatermark(
  database: Database,
  batch: Batch,
  from: Buffer,
): Promise<Buffer | undefined> {
  const watermark = await readWatermark(database, resourceInRecordKey(from))
  if (!watermark || Buffer.compare(watermark, from) <= 0) return undefined
  putWatermark(batch, from)
  return watermark
}
