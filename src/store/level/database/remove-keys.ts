import type { KeyRange } from '../keys.ts'
import type { Database } from './database.ts'
import { scan } from './scan.ts'

/** Number of keys that are collected before they are removed with one fsync. */
const removedAtOnce = 10_000

/** Durably removes the keys of a range for which `isMeant` is true, in pieces. @returns how many keys were removed */
export async function removeKeys(
  database: Database,
  range: KeyRange,
  isMeant: (key: Buffer, bytes: Buffer) => boolean = () => true,
): Promise<number> {
  let removed = 0
  let meant: Buffer[] = []
  for await (const entries of scan(database, range)) {
    for (const [key, bytes] of entries) if (isMeant(key, bytes)) meant.push(key)
    if (meant.length < removedAtOnce) continue
    removed += await removeAll(database, meant)
    meant = []
  }
  return removed + (await removeAll(database, meant))
}

async function removeAll(database: Database, keys: readonly Buffer[]): Promise<number> {
  if (keys.length === 0) return 0
  const batch = database.batch()
  for (const key of keys) batch.del(key)
  await database.write(batch, { sync: true })
  return keys.length
}
