import { redisKeys } from '../keys.ts'
import { type Client, pairsIn, type Reply, Script } from '../script.ts'

/** Version of the keys, their contents, and the documents (docs/reference/storage.md). A new kind of entry needs a new version. */
export const formatVersion = 4
/** Older formats. All their entries are also valid in the current format. */
const readFormats = [1, 3]
/** Number of hash slots over which things are distributed. The format allows up to 16; this version supports one. */
const partitions = '1'

const openScript = new Script('open-format')

/**
 * Creates the format entry of a new store, or upgrades an older format. Several nodes may call this at the same time.
 *
 * @returns the older format, if there was one
 * @throws Error for the operator, without any change, if the store has another format or number of partitions, is used by nodes
 * of an older version, or is only half migrated
 */
export async function openFormat(client: Client, prefix: string): Promise<string | undefined> {
  const formats = [formatVersion, partitions, ...readFormats]
  const reply = await openScript.run(client, redisKeys(prefix).head, formats)
  const [outcome, meta] = reply as readonly [Buffer, Reply]
  const stored = Object.fromEntries(pairsIn(meta).map(([name, value]) => [name, value.toString()]))
  const problem = problemOf(stored, outcome.toString())
  if (problem !== undefined) throw new Error(`cannot use the store "${prefix}" in Redis: ${problem}`)
  const [, before] = outcome.toString().split('taken ')
  return before
}

function problemOf(stored: Readonly<Record<string, string>>, outcome: string): string | undefined {
  const { format, migration } = stored
  if (migration !== undefined) {
    return 'thingwire migrate has not finished; run it again until it is done'
  }
  if (outcome === 'used') {
    return `it has format ${format}, and nodes of an older version use it: stop them all before you start this version; a node that was killed still counts as running for 25 s`
  }
  if (outcome === 'old' || format === '2') {
    return `it has format ${format} of an early version, which this version cannot read: export the readings with that version, and import them into a new store`
  }
  const isKnown = [formatVersion, ...readFormats].map(String).includes(format ?? '')
  if (!isKnown) {
    return `it has format ${format}, but this version only knows formats ${readFormats.join(', ')} and ${formatVersion}: use the version that wrote it, or go back to a copy of Redis made before that`
  }
  return stored.partitions === partitions
    ? undefined
    : `it has ${stored.partitions} partitions, not ${partitions}`
}
