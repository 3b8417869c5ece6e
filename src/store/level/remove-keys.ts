import type { Database } from './database.ts'
import type { KeyRange } from './keys.ts'
import { scan } from './scan.ts'

const removedAtOnce = 10_000
const bytesAtOnce = 1024 * 1024

/** Removes the keys of a range of which `isMeant` says so, in pieces; durable when it resolves. */
export async function removeKeys(
  database: Database,
  range: KeyRange,
  isMeant: (key: Buffer, bytes: Buffer) => boolean = () => true,
): Promise<number> {
  let removed = 0
  const options = { atOnce: removedAtOnce, highWaterMarkBytes: bytesAtOnce }
  for await (const entries of scan(database, range, options)) {
    const meant = entries.filter(([key, bytes]) => isMeant(key, bytes))
    if (meant.length === 0) continue
    const batch = database.batch()
    for (const [key] of meant) batch.del(key)
    await database.write(batch, { sync: true })
    removed += meant.length
  }
  return removed
}
