import { randomBytes } from 'node:crypto'
import { access, readdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { everyKey, formatKey, identityKey, keysOf, prefix } from '../keys.ts'
import { type Level, lastEntry } from './scan.ts'

/**
 * Version of the layout of entries (keys.ts, ../chunks/record-chunk.ts, ../../record-value.ts) and of documents. A new kind of
 * entry needs a version number that was never used: a build assumes a fixed layout for each version number that it knows.
 * docs/reference/storage.md lists all versions.
 */
export const formatVersion = 5

/** Older formats. All their entries are also valid in the current format. */
const readFormats = ['1', '4']

const identityLength = 16

export function newIdentity(): Buffer {
  return randomBytes(identityLength)
}

/** Whether a database may be created in a directory: not if it holds an earlier database, whose tables LevelDB would remove. */
export async function mayHoldNewStore(location: string): Promise<boolean> {
  const names = await readdir(location).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return !names.some(name => name === 'CURRENT' || /^\d+\.(ldb|sst|log)$/.test(name))
}

/**
 * Checks whether the path of a new store is a mistake: a data directory, or a directory inside another store. An empty store would
 * then be created, although the operator means the existing store.
 *
 * @returns the second half of a sentence for the operator; undefined if the path is right
 */
export async function misplaced(location: string): Promise<string | undefined> {
  const isThere = (...path: string[]) =>
    access(join(location, ...path)).then(
      () => true,
      () => false,
    )
  const inside = join(location, 'store')
  if ((await isThere('admin-key')) || (await isThere('store', 'CURRENT')))
    return `it is the data directory of a server, whose store is ${inside}: give ${inside}`
  if (!(await isThere('..', 'CURRENT'))) return undefined
  const above = dirname(resolve(location))
  return basename(above) === 'store'
    ? `${above} is itself a store: the data directory is ${dirname(above)}`
    : `${above} is itself a store, of a program that embeds Thingwire: stop that program and move the files of the store into ${location}, or give another directory`
}

/** Reads the identity of a store, or creates one in an empty database. @throws Error for the operator if the store is unusable */
export async function identityOf(level: Level): Promise<Buffer> {
  const [format, identity] = await level.getMany([formatKey, identityKey])
  if (!format && !identity && (await lastEntry({ level }, everyKey)) === undefined)
    return await putIdentity(level)
  const problem = (await formatProblem(level)) ?? (identity ? undefined : 'it has no identity')
  if (problem !== undefined) throw new Error(`cannot open the store in ${level.location}: ${problem}`)
  return identity ?? Buffer.alloc(0)
}

/** Why this version cannot use the format of a store; undefined if it can. */
export async function formatProblem(level: Level): Promise<string | undefined> {
  const [stored, identity] = await level.getMany([formatKey, identityKey])
  const format = stored?.toString()
  if (format === String(formatVersion)) return undefined
  if (format === undefined) return 'it is not a Thingwire store'
  const isRead = readFormats.includes(format) && identity !== undefined
  if (isRead && (await hasResourcesByKey(level))) return undefined
  // A store without an identity is also from an early version.
  const isOld = isRead || (identity === undefined && ['1', '2', '3'].includes(format))
  if (isOld) {
    return `it has format ${format} of an early version, which this version cannot read: export the readings with that version, and import them into a new store`
  }
  if (format === '2' || format === '3') {
    return `it has format ${format}, which an older version wrote into a newer version's store: restore a backup made before that`
  }
  return `it has format ${format}, but this version only knows formats ${readFormats.join(', ')} and ${formatVersion}: use the version that wrote it, or restore a backup made before that`
}

/** Upgrades the format of a store before this version writes to it. @returns the previous format if it was different */
export async function takeFormat(level: Level): Promise<string | undefined> {
  const before = (await level.get(formatKey))?.toString()
  if (before === undefined || before === String(formatVersion)) return undefined
  await level.put(formatKey, Buffer.from(String(formatVersion)), { sync: true })
  return before
}

/** Whether the resources have `b` keys. Stores of the earliest versions have none, although their format is also 1. */
async function hasResourcesByKey(level: Level): Promise<boolean> {
  const isThere = async (kind: string) => (await lastEntry({ level }, keysOf(kind))) !== undefined
  return (await isThere(prefix.resourceByKey)) || !(await isThere(prefix.resource))
}

async function putIdentity(level: Level): Promise<Buffer> {
  const identity = newIdentity()
  await level
    .batch()
    .put(formatKey, Buffer.from(String(formatVersion)))
    .put(identityKey, identity)
    .write({ sync: true })
  return identity
}
