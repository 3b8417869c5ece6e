import type { TimeRange } from '../contract.ts'
import type { Database } from './database.ts'
import { crowdKeys, type KeyRange, positionInRecordKey, recordKeys } from './keys.ts'

const removedAtOnce = 10_000

/**
 * Removes the records of a range that were written up to `lastWrite`, a piece at a time, so that appends go on in
 * between. A crash leaves the removal half done; calling it again finishes it.
 *
 * @returns how many records were removed
 */
export async function removeRecords(
  database: Database,
  resource: number,
  { from, to }: TimeRange,
  lastWrite: number,
): Promise<number> {
  const removed = await removeKeys(
    database,
    recordKeys(resource, from, to),
    key => positionInRecordKey(key).writeNumber <= lastWrite,
  )
  await removeKeys(database, crowdKeys(resource, from, to), (_, bytes) => bytes.readUIntBE(0, 6) <= lastWrite)
  return removed
}

/** Removes the keys of a range of which `isMeant` says so; durable when it resolves. */
export async function removeKeys(
  database: Database,
  range: KeyRange,
  isMeant: (key: Buffer, bytes: Buffer) => boolean = () => true,
): Promise<number> {
  let removed = 0
  const iterator = database.level.iterator(range)
  try {
    for (
      let entries = await iterator.nextv(removedAtOnce);
      entries.length > 0;
      entries = await iterator.nextv(removedAtOnce)
    ) {
      const batch = database.batch()
      for (const [key, bytes] of entries) {
        if (!isMeant(key, bytes)) continue
        batch.del(key)
        removed++
      }
      await database.write(batch, { sync: true })
    }
  } finally {
    await iterator.close()
  }
  return removed
}

/** Whether a resource holds no record. */
export async function isEmpty(database: Database, resource: number): Promise<boolean> {
  const keys = await database.level.keys({ ...recordKeys(resource), limit: 1 }).all()
  return keys.length === 0
}
