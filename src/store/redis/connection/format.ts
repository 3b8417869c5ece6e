import { redisKeys } from '../keys.ts'
import { type Client, pairsIn, type Reply, Script } from '../script.ts'

/**
 * Of the keys and their contents, documents too (docs/reference/storage.md). Each new kind of entry has a new one, which none before
 * has had.
 */
export const formatVersion = 3
/** All its entries are read by this version, and written by it in no other way. */
const readFormat = 1
/** Among how many hash slots the things are divided. The format has room for sixteen; this version reads one. */
const partitions = '1'

const openScript = new Script('open-format')

/**
 * Writes down what a new store is made with; gives one of an older format today's; holds any other against it, and changes nothing
 * then. Several nodes may do it at once.
 *
 * @returns the other format that it had before
 * @throws Error for the operator: another format, nodes of an older version that use it, another number of partitions, or half a store
 */
export async function openFormat(client: Client, prefix: string): Promise<string | undefined> {
  const reply = await openScript.run(client, redisKeys(prefix).head, [formatVersion, readFormat, partitions])
  const [outcome, meta] = reply as readonly [Buffer, Reply]
  const stored = Object.fromEntries(pairsIn(meta).map(([name, value]) => [name, value.toString()]))
  const problem = problemOf(stored, outcome.toString())
  if (problem !== undefined) throw new Error(`cannot use the store "${prefix}" in Redis: ${problem}`)
  return outcome.toString() === 'taken' ? String(readFormat) : undefined
}

function problemOf(stored: Readonly<Record<string, string>>, outcome: string): string | undefined {
  const { format, migration } = stored
  if (migration !== undefined) {
    return 'thingwire migrate has not finished; run it again until it is done'
  }
  if (outcome === 'used') {
    return `it has format ${format}, and nodes of an older version use it: stop them all before you start this version; one that was killed counts for 25 s`
  }
  if (outcome === 'old' || format === '2') {
    return `it has format ${format} of an early version, which this one does not read: have that version export the readings, and import them into a new store`
  }
  const isKnown = format === String(formatVersion) || format === String(readFormat)
  if (!isKnown) {
    return `it has format ${format}, and this version knows formats ${readFormat} and ${formatVersion}: use the version that wrote it, or go back to a copy of Redis from before`
  }
  return stored.partitions === partitions
    ? undefined
    : `it has ${stored.partitions} partitions, not ${partitions}`
}
