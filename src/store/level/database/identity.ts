import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import type { ClassicLevel } from 'classic-level'
import { everyKey, formatKey, identityKey } from '../keys.ts'
import { lastEntry } from './scan.ts'

/** Version of the layout in keys.ts, ../runs (record-run.ts) and ../../record-value.ts; any other is refused. */
export const formatVersion = 1

const identityLength = 16

/** An identity that no other store has. */
export function newIdentity(): Buffer {
  return randomBytes(identityLength)
}

/**
 * Whether a database may be made in a directory: there is none, nor what is left of one. LevelDB would remove the tables of a
 * database that has lost its `CURRENT`.
 */
export async function mayHoldNewStore(location: string): Promise<boolean> {
  const names = await readdir(location).catch((error: NodeJS.ErrnoException) => {
    // A place that cannot be looked at is told of by LevelDB.
    if (error.code === 'ENOENT') return []
    throw error
  })
  return !names.some(name => name === 'CURRENT' || /^\d+\.(ldb|sst|log)$/.test(name))
}

/**
 * The identity of the store in a database, which a database without a key is given.
 *
 * @throws Error with one line for the operator: another format, no store of Thingwire
 */
export async function identityOf(level: ClassicLevel<Buffer, Buffer>): Promise<Buffer> {
  const [format, identity] = await level.getMany([formatKey, identityKey])
  if (!format && !identity && (await lastEntry({ level }, everyKey)) === undefined)
    return await putIdentity(level)
  const problem = formatProblem(format) ?? (identity ? undefined : 'it has no identity')
  if (problem !== undefined) throw new Error(`cannot open the store in ${level.location}: ${problem}`)
  return identity ?? Buffer.alloc(0)
}

/** Why this version cannot use a store, by what it has under `formatKey`. */
export function formatProblem(stored: Buffer | undefined): string | undefined {
  const format = stored?.toString()
  if (format === String(formatVersion)) return undefined
  if (format === undefined) return 'it is no store of Thingwire'
  return `it has format ${format}, and this version knows format ${formatVersion}`
}

async function putIdentity(level: ClassicLevel<Buffer, Buffer>): Promise<Buffer> {
  const identity = newIdentity()
  await level
    .batch()
    .put(formatKey, Buffer.from(String(formatVersion)))
    .put(identityKey, identity)
    .write({ sync: true })
  return identity
}
