import type { Batch, Database } from '../database/database.ts'
import { keyOfPosition, packedKey, positionBytes, resourceInRecordKey } from '../keys.ts'

/**
 * The watermark of a resource is a record key: all entries before it are packed, and the compactor need not read them again. A
 * change before the watermark lowers it in the same batch. Only the compactor uses watermarks: records are read correctly with
 * any watermark, or without one.
 */

/** @returns the watermark of a resource; undefined if the resource has none */
export async function readWatermark(database: Database, resource: number): Promise<Buffer | undefined> {
  const bytes = await database.level.get(packedKey(resource))
  return bytes && keyOfPosition(resource, bytes)
}

export function putWatermark(batch: Batch, watermark: Buffer): void {
  batch.put(packedKey(resourceInRecordKey(watermark)), positionBytes(watermark))
}

/** Lowers the watermark to `from` in a batch that changes entries from `from` on. @returns the old watermark if it was higher */
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
