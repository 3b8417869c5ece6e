import assert from 'node:assert/strict'
import type { StoredRecord } from '../core/record/record.ts'
import type {
  Append,
  Commit,
  Latest,
  LatestOfThing,
  LatestQuery,
  LogQuery,
  RecordStore,
} from '../store/contract.ts'
import { measuredAt, write } from './writes.ts'

/** The key of a magic resource, which has a state. A store treats all magic resources alike. */
export const stateful = '$geo'

export function state(value: unknown, more: Partial<StoredRecord> = {}): Latest {
  const record = { key: stateful, datetime: measuredAt, value: JSON.stringify(value), ...more }
  return { key: record.key, record }
}

/** A write of states, without records. */
export function put(states: readonly Latest[], more: Partial<Append> = {}): Append {
  return write([], { states, ...more })
}

/** The rows of a new snapshot, sorted by thing and key. */
export async function latestNow(records: RecordStore, query: LatestQuery = {}): Promise<Row[]> {
  const snapshot = await records.snapshot()
  try {
    return rowsOf(await collect(snapshot.latest(query)))
  } finally {
    await snapshot.close()
  }
}

/** A latest record of a snapshot, with its value parsed. */
export type Row = readonly [thingId: string, key: string, value: unknown]

export async function collect(pages: AsyncIterable<readonly LatestOfThing[]>): Promise<LatestOfThing[]> {
  const all: LatestOfThing[] = []
  for await (const page of pages) all.push(...page)
  return all
}

export function rowsOf(latest: readonly LatestOfThing[]): Row[] {
  return latest
    .map(({ thingId, key, record }): Row => [thingId, key, JSON.parse(record.value)])
    .toSorted(([thing, key], [otherThing, other]) => (`${thing} ${key}` < `${otherThing} ${other}` ? -1 : 1))
}

/** Reads the log page by page. Reads all commits, or only commits of things for which `isOf` is true. */
export async function readWholeLog(
  records: Pick<RecordStore, 'readLog'>,
  { order = 'asc', limit = 7, ...query }: Partial<Pick<LogQuery, 'order' | 'limit' | 'isOf'>> = {},
): Promise<Commit[]> {
  const all: Commit[] = []
  let bounds = { after: 0, before: Number.POSITIVE_INFINITY }
  for (;;) {
    const page = await records.readLog({ ...query, ...bounds, order, limit })
    const last = page.at(-1)?.writeNumber
    if (last === undefined) return all
    const outside = page.filter(({ writeNumber: at }) => at <= bounds.after || at >= bounds.before)
    assert.equal(outside.length, 0, 'a page of the log has commits outside its bounds')
    all.push(...page.map(plain))
    bounds = order === 'asc' ? { ...bounds, after: last } : { ...bounds, before: last }
  }
}

/** The commits that are delivered from now on. The array grows with each delivery. */
export function listen(records: Pick<RecordStore, 'onCommit'>): Commit[] {
  const delivered: Commit[] = []
  records.onCommit(commit => delivered.push(plain(commit)))
  return delivered
}

export function numbersOf(commits: readonly Commit[]): number[] {
  return commits.map(({ writeNumber }) => writeNumber)
}

/** A plain copy of the commit, without `outline`. In the original, `records` and `latest` may be parsed only when read. */
export function plain(commit: Commit): Commit {
  const { thingId, writeNumber, receivedAt, records, latest, stored, broadcast, isElsewhere } = commit
  const members = { thingId, writeNumber, receivedAt, records, latest, stored, broadcast }
  return isElsewhere ? { ...members, isElsewhere } : members
}
