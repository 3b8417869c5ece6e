import { type Hold, HoldLost } from '../../core/holds.ts'
import type { LogBounds } from '../../core/nodes.ts'
import { maximumPageText } from '../../core/ports.ts'
import type { Commit, LogQuery } from '../contract.ts'
import type { Partition } from './connection/partition.ts'
import { decodeEntry, type LogEntry, thingOfCommit, writeNumberOf } from './log/log-entry.ts'
import { Script } from './script.ts'

const readPiece = new Script('read-log')
const trimPiece = new Script('trim-log')
const askBounds = new Script('log-bounds')

/** Bounds of one reply, and so of how long Redis does nothing else. */
const mostEntries = 250
const mostBytes = 256 * 1024
const trimmedAtOnce = 1_000
/** Partitions that write numbers tell apart (scripts/lib.lua). */
const partitionsInNumbers = 16

/**
 * Commits of the log between two write numbers, those of all partitions in the order of the numbers. A page has at most
 * `limit` of them, and ends with the one with which it reaches `maximumPageText`.
 *
 * @throws ThingwireError store_unavailable
 */
export async function readLog(partitions: readonly Partition[], query: LogQuery): Promise<Commit[]> {
  const commits: Commit[] = []
  let bytes = 0
  for await (const entry of entriesInOrder(partitions, query)) {
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
 * Removes these commits from the log, but for those that another node may still have to read: it may have been cut off from
 * Redis for 10 minutes, or 100,000 entries.
 *
 * @param partitions in the order of their numbers
 * @param hold in whose name it is
 * @throws HoldLost
 * @throws ThingwireError store_unavailable
 */
export async function trimLog(
  partitions: readonly Partition[],
  writeNumbers: readonly number[],
  hold?: Hold,
): Promise<void> {
  const trimming = partitions.map(async (partition, index) => {
    const own = writeNumbers.filter(writeNumber => writeNumber % partitionsInNumbers === index)
    for (let at = 0; at < own.length; at += trimmedAtOnce) {
      const isTrimmed = await partition.run(trimPiece, ...fenceOf(hold), ...own.slice(at, at + trimmedAtOnce))
      if (hold && isTrimmed === 0) throw new HoldLost(hold)
    }
  })
  await Promise.all(trimming)
}

/** As scripts take a hold in whose name something is. */
export function fenceOf(hold: Hold | undefined): readonly [name: string, holder: string] {
  return [hold?.name ?? '', hold?.holder ?? '']
}

/** How far the log goes back now. @throws ThingwireError store_unavailable */
export async function logBounds(partition: Partition): Promise<LogBounds> {
  const [completeAfter, trimmableTo] = (await partition.run(askBounds)) as readonly [number, number]
  return { completeAfter, trimmableTo }
}

async function* entriesInOrder(partitions: readonly Partition[], query: LogQuery): AsyncGenerator<LogEntry> {
  const opening = partitions.map(async partition => {
    const entries = entriesOf(partition, query)
    return { entries, entry: (await entries.next()).value }
  })
  const sources = await Promise.all(opening)
  const direction = query.order === 'asc' ? 1 : -1
  const comesBefore = (a: LogEntry, b: LogEntry) => direction * (writeNumberOf(a) - writeNumberOf(b)) < 0
  for (;;) {
    let first: (typeof sources)[number] | undefined
    for (const source of sources) {
      if (source.entry && (!first?.entry || comesBefore(source.entry, first.entry))) first = source
    }
    if (!first?.entry) return
    yield first.entry
    first.entry = (await first.entries.next()).value
  }
}

async function* entriesOf(partition: Partition, query: LogQuery): AsyncGenerator<LogEntry, undefined> {
  const { after, before, order, limit } = query
  if (after + 1 >= before) return
  const lowest = `(${after}-0`
  const highest = before === Number.POSITIVE_INFINITY ? '+' : `(${before}-0`
  const [command, start, end] = order === 'asc' ? ['XRANGE', lowest, highest] : ['XREVRANGE', highest, lowest]
  let from = start
  let atOnce = limit
  while (from !== '') {
    atOnce = Math.min(atOnce, mostEntries)
    const reply = await partition.run(readPiece, command, from, end, atOnce, mostBytes)
    const [entries, next] = reply as unknown as readonly [readonly LogEntry[], Buffer]
    yield* entries
    from = next.toString('latin1')
    // What is passed over counts for little.
    atOnce *= 2
  }
}

function bytesOf([, fields]: LogEntry): number {
  return fields.reduce((sum, { length }) => sum + length, 0)
}
