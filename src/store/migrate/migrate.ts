import { ThingwireError } from '../../errors.ts'
import type { Document } from '../contract.ts'
import { openClient } from '../redis/connection/connection.ts'
import { RedisDatabase } from '../redis/connection/database.ts'
import { checkDurability, type DurabilityOptions } from '../redis/connection/durability.ts'
import { waitingForReplicas } from '../redis/connection/replicas.ts'
import { redisKeys } from '../redis/keys.ts'
import type { Client } from '../redis/script.ts'
import { Source } from './source.ts'
import { type Move, stages } from './stages.ts'
import { Target } from './target.ts'
import { type Verified, verify } from './verify.ts'

export interface MigrateOptions extends DurabilityOptions {
  /** Directory of the embedded store, which no process may have open. */
  readonly location: string
  /** URL of Redis, in the format that redis-url.ts describes. */
  readonly url: string
  /** Prefix of the keys in Redis. Default `thingwire`. */
  readonly prefix?: string
  /** Converts a document; returns undefined if the document is not to be moved. */
  readonly documentOf: (name: string, document: Document, numberOf: Move['numberOf']) => Document | undefined
  readonly onProgress: (progress: Progress) => void
  /** Called with warnings about the configuration of Redis. */
  readonly onWarning: (text: string) => void
}

/** Progress of a migration, in records. */
export interface Progress {
  readonly step: 'moved' | 'verified'
  readonly records: number
  readonly of: number
}

/** Maximum number of pieces in flight to Redis. */
const piecesAtOnce = 8

/**
 * Moves an embedded store into an empty store in Redis, and compares the two. If the migration ends early for any reason, no
 * server opens the store in Redis, and the next call continues the migration. With `replicas`, the replicas have all data when the
 * migration ends.
 *
 * @returns undefined if an earlier call has already moved everything
 * @throws Error for the operator
 */
export async function migrate(options: MigrateOptions): Promise<Verified | undefined> {
  const source = await Source.open(options.location)
  try {
    const client = await openClient(options.url)
    try {
      const { warnings } = await checkDurability(client, options)
      for (const text of warnings) options.onWarning(text)
      return await migrateTo(client, source, options)
    } catch (error) {
      throw forOperator(error)
    } finally {
      client.disconnect()
    }
  } finally {
    await source.close()
  }
}

async function migrateTo(
  client: Client,
  source: Source,
  options: MigrateOptions,
): Promise<Verified | undefined> {
  const { prefix = 'thingwire', documentOf, onProgress } = options
  const keys = redisKeys(prefix)
  const database = new RedisDatabase(keys, 'migrate', client)
  // Uses the same connection, so replicas that have the last write have all earlier writes too.
  const durable = options.replicas
    ? new RedisDatabase(keys, 'migrate', waitingForReplicas(client, options))
    : database
  const target = await Target.claim(database, source)
  if (!target) {
    await Target.confirm(durable, source)
    return undefined
  }
  const move: Move = {
    source,
    keys,
    numberOf: target.numberOf,
    documentOf: (name, document) => documentOf(name, document, target.numberOf),
  }
  const of = await load(move, target, onProgress)
  let records = 0
  const verified = await verify(move, database, count => {
    records += count
    onProgress({ step: 'verified', records, of })
  })
  await target.finish(durable)
  return verified
}

/** Moves all data. @returns number of records in the source */
async function load(move: Move, target: Target, onProgress: (progress: Progress) => void): Promise<number> {
  const { source } = move
  const after = target.position
  const first = stages.findIndex(({ range }) => after?.[0] === range.gte[0])
  const of = await source.countRecords()
  let records = first > 0 ? of : of - (await source.countRecords(after))
  onProgress({ step: 'moved', records, of })
  const pieces: Promise<void>[] = []
  let isFirst = true
  for (const [index, stage] of stages.entries()) {
    if (index < first) continue
    const behind = index === first ? after : undefined
    const reading = stage.read ? stage.read(source, behind) : source.entries(stage.range, behind)
    for await (const entries of reading) {
      const last = entries.at(-1)
      if (!last) continue
      const loading = target.load(last[0], await stage.commands(entries, move)).then(() => {
        if (index > 0) return
        records += entries.length
        onProgress({ step: 'moved', records, of })
      })
      // A failure is handled where the promise is awaited, below.
      loading.catch(() => {})
      pieces.push(loading)
      // The first piece loads the script into Redis. Until the script is loaded, pieces in flight could overtake each other.
      if (pieces.length === piecesAtOnce || isFirst) await pieces.shift()
      isFirst = false
    }
  }
  await Promise.all(pieces)
  return of
}

function forOperator(error: unknown): unknown {
  if (!(error instanceof ThingwireError)) return error
  const again = 'Run migrate again: it continues where it stopped'
  if (error.reason === 'store_full') {
    return new Error(`Redis is out of memory: raise its maxmemory. ${again}`, { cause: error })
  }
  if (error.reason === 'store_timeout') {
    return new Error(`the replicas of Redis do not have all data yet. ${again}`, { cause: error })
  }
  const { cause, reason } = error
  return new Error(`Redis failed (${cause instanceof Error ? cause.message : reason}). ${again}`, { cause })
}
