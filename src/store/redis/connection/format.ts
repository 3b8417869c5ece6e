import { redisKeys } from '../keys.ts'
import type { Client } from '../script.ts'

/** Of the keys and their contents (docs/reference/storage.md). */
export const formatVersion = 1
/** Among how many hash slots the things are divided. The format has room for sixteen; this version reads one. */
const partitions = '1'

/**
 * Writes down what a new store is made with; holds a store that is there against it, and changes nothing then. Several
 * nodes may do it at once.
 *
 * @throws Error for the operator: another format, another number of partitions, or half a store
 */
export async function openFormat(client: Client, prefix: string): Promise<void> {
  const key = redisKeys(prefix).meta
  let stored = await client.hgetall(key)
  if (stored.format === undefined && stored.migration === undefined) {
    await client.multi().hsetnx(key, 'partitions', partitions).hsetnx(key, 'format', formatVersion).exec()
    stored = await client.hgetall(key)
  }
  const problem = problemOf(stored)
  if (problem !== undefined) throw new Error(`cannot use the store "${prefix}" in Redis: ${problem}`)
}

function problemOf(stored: Readonly<Record<string, string>>): string | undefined {
  if (stored.migration !== undefined) {
    return 'thingwire migrate has not finished; run it again until it is done'
  }
  if (stored.format !== String(formatVersion)) {
    return `it has format ${stored.format}, and this version reads format ${formatVersion}`
  }
  return stored.partitions === partitions
    ? undefined
    : `it has ${stored.partitions} partitions, not ${partitions}`
}
