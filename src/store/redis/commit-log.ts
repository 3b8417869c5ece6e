import { type Lock, LockLost } from '../../core/locks.ts'
import type { LogBounds } from '../../core/nodes.ts'
import { maximumPageText } from '../../core/ports.ts'
import type { Commit, LogQuery } from '../contract.ts'
import type { RedisDatabase } from './connection/database.ts'
import { decodeEntry, type LogEntry, thingOfCommit } from './log/log-entry.ts'
import { Script } from './script.ts'

const readPiece = new Script('read-log')
const trimPiece = new Script('trim-log')
const askBounds = new Script('log-bounds')

/** Limits of one call of a script. While Redis runs a script, it serves no other client. */
const mostEntries = 250
const mostBytes = 256 * 1024
const trimmedAtOnce = 1_000

/** Implements `RecordStore.readLog`: stops on reaching `maximumPageText`. @throws ThingwireError store_unavailable */
export async function readLog(database: RedisDatabase, query: LogQuery): Promise<Commit[]> {
  const commits: Commit[] = []
  let bytes = 0
  for await (const entry of entriesOf(database, query)) {
    const thingId = thingOfCommit(entry)
    if (thingId === undefined || (query.isOf && !query.isOf(thingId))) continue
    const { commit } = decodeEntry(entry)
    if (!commit?.stored || (commit.records.length === 0 && commit.latest.length === 0)) continue
    commits.push(commit)
    bytes += bytesOf(entry)
    if (commits.length === query.limit || bytes >= maximumPageText) break
  }
  return commits
}

/**
 * Removes commits from the log, except those that a node may still have to read after it was cut off from Redis: commits of the
 * last 10 minutes, if they are among the newest 100,000 or so entries.
 *
 * @throws LockLost
 * @throws ThingwireError store_unavailable
 */
export async function trimLog(
  database: RedisDatabase,
  writeNumbers: readonly number[],
  lock?: Lock,
): Promise<void> {
  for (let at = 0; at < writeNumbers.length; at += trimmedAtOnce) {
    const some = writeNumbers.slice(at, at + trimmedAtOnce)
    const isTrimmed = await database.run(trimPiece, ...fenceOf(lock), ...some)
    if (lock && isTrimmed === 0) throw new LockLost(lock)
  }
}

/** The arguments with which a script checks the lock that a call names. */
export function fenceOf(lock: Lock | undefined): readonly [name: string, owner: string] {
  return [lock?.name ?? '', lock?.owner ?? '']
}

/** @throws ThingwireError store_unavailable */
export async function logBounds(database: RedisDatabase): Promise<LogBounds> {
  const [completeAfter, trimmableTo] = (await database.run(askBounds)) as readonly [number, number]
  return { completeAfter, trimmableTo }
}

async function* entriesOf(database: RedisDatabase, query: LogQuery): AsyncGenerator<LogEntry, undefined> {
  const { after, before, order, limit } = query
  if (after + 1 >= before) return
  const lowest = `(${after}-0`
  const highest = before === Number.POSITIVE_INFINITY ? '+' : `(${before}-0`
  const [command, start, end] = order === 'asc' ? ['XRANGE', lowest, highest] : ['XREVRANGE', highest, lowest]
  let from = start
  let atOnce = limit
  while (from !== '') {
    atOnce = Math.min(atOnce, mostEntries)
    const reply = await database.run(readPiece, command, from, end, atOnce, mostBytes)
    const [entries, next] = reply as unknown as readonly [readonly LogEntry[], Buffer]
    yield* entries
    from = next.toString('latin1')
    // Reads more in each piece, since most entries may be of things that the query does not select.
    atOnce *= 2
  }
}

function bytesOf([, fields]: LogEntry): number {
  return fields.reduce((sum, { length }) => sum + length, 0)
}
