import type { Entry } from '../level/database/scan.ts'
import { ordinalInKey, thingInKey, writeIdKey } from '../level/keys.ts'
import type { KnownWrite } from '../level/write-ids.ts'
import { rememberedFor } from '../resend.ts'
import type { Source } from './source.ts'

/**
 * Converts write ids, except ids that are already too old to be remembered.
 *
 * @param entries entries under `prefix.writeIdOrder`
 * @returns `text` is the value in Redis: `<ordinal>:<receipt time>:<answer>`
 */
export async function movedWriteIds({ database, counters }: Source, entries: readonly Entry[]) {
  const names = entries.map(([name, digest]) => writeIdKey(thingInKey(name), digest))
  const found = await database.level.getMany(names)
  const oldest = counters.newestReceipt - rememberedFor
  return entries.flatMap(([name, digest], index) => {
    const known = found[index] && (JSON.parse(found[index].toString()) as KnownWrite)
    // If the id was used again later, its write has a newer ordinal, and another entry.
    if (known?.ordinal !== ordinalInKey(name) || known.receivedAt < oldest) return []
    const { ordinal, receivedAt, answer } = known
    const text = `${ordinal}:${receivedAt}:${JSON.stringify(answer)}`
    return [{ thingId: thingInKey(name), digest, ordinal, text }]
  })
}
