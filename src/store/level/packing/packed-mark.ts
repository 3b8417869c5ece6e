import type { Batch, Database } from '../database/database.ts'
import { keyOfPosition, packedKey, positionBytes, resourceInRecordKey } from '../keys.ts'

/**
 * The mark of a resource, a record key: what stands in front of it is packed, so that the packer need not look at it again. What
 * changes something there lowers the mark in its batch. It says where to look and nothing else: with any mark, or none, every
 * record is read as it is.
 */

/** Undefined if nothing of the resource was packed. */
export async function readMark(database: Database, resource: number): Promise<Buffer | undefined> {
  const bytes = await database.level.get(packedKey(resource))
  return bytes && keyOfPosition(resource, bytes)
}

export function putMark(batch: Batch, mark: Buffer): void {
  batch.put(packedKey(resourceInRecordKey(mark)), positionBytes(mark))
}

/**
 * Has a batch that changes something from a record key on lower the mark to it.
 *
 * @returns the mark, if it is lowered
 */
export async function lowerMark(database: Database, batch: Batch, from: Buffer): Promise<Buffer | undefined> {
  const mark = await readMark(database, resourceInRecordKey(from))
  if (!mark || Buffer.compare(mark, from) <= 0) return undefined
  putMark(batch, from)
  return mark
}
