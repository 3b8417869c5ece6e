import { Aggregation } from '../../../core/record/aggregation.ts'
import type { BucketSummary } from '../../../core/record/buckets.ts'
import { latestDatetime } from '../../../core/record/datetime.ts'
import type { AggregateQuery, Aggregates } from '../../contract.ts'
import type { RedisDatabase } from '../connection/database.ts'
import { type Reply, Script } from '../script.ts'

const aggregateScript = new Script('aggregate', 'time-line')

/** Maximum number of summaries in a piece. */
const mostRollups = 256
/** Maximum number of buckets whose edges are passed to the script. Few pieces have records of more buckets. */
const bucketsAhead = 128

const datetimeLength = 6

/** A summary of some records of one bucket. */
interface PartSummary extends Omit<BucketSummary, 'start' | 'end'> {
  /** Datetime of one of the records, milliseconds. */
  readonly datetime: number
}

/** Implements `DriverRecords.aggregate`. Records removed meanwhile may be missing. @throws ThingwireError store_unavailable */
export async function aggregate(
  database: RedisDatabase,
  thingId: string,
  key: string,
  query: AggregateQuery,
  closing: AbortSignal,
): Promise<Aggregates | undefined> {
  const answer = new Aggregation(query)
  let asOf: number | undefined
  let after: Buffer | undefined
  for (;;) {
    closing.throwIfAborted()
    const piece = await readPiece(database, thingId, key, query, asOf, after)
    if (!piece) return asOf === undefined ? undefined : answer.end()
    for (const { datetime, ...summary } of piece.summaries) {
      if (!answer.merge(datetime, summary)) return answer.end()
    }
    if (!piece.end) return answer.end()
    after = piece.end
    asOf ??= piece.newest
  }
}

/** Calls aggregate.lua. A bucket may have several consecutive summaries. */
async function readPiece(
  database: RedisDatabase,
  thingId: string,
  key: string,
  query: AggregateQuery,
  asOf: number | undefined,
  after: Buffer | undefined,
) {
  const { order, from, to, limit } = query
  const wanted = Math.min(mostRollups, limit + 1)
  const begin = after?.readUIntBE(0, datetimeLength) ?? beginOf(query)
  const edges = begin === undefined ? [] : edgesFrom(begin, query)
  const args = [thingId, key, order, from ?? '', to ?? '', wanted, asOf ?? '', after ?? '', ...edges]
  const reply = await database.run(aggregateScript, ...args)
  if (reply === null) return undefined
  const [newest, summaries, end] = reply as readonly Reply[] as readonly [number, readonly Reply[], Buffer?]
  return { newest, summaries: summaries.map(decodeSummary), end }
}

/** A datetime at or before the beginning of the answer, in the order of the query; undefined if none is known. */
function beginOf({ order, from, to }: AggregateQuery): number | undefined {
  if (order === 'asc') return from
  return to === undefined ? undefined : Math.max(to - 1, 0)
}

/** The edges of buckets in the order of the query, from the bucket of `datetime` on. */
function edgesFrom(
  datetime: number,
  { order, from = 0, to = latestDatetime, buckets }: AggregateQuery,
): number[] {
  let bucket = buckets.at(Math.min(datetime, latestDatetime))
  const edges = order === 'asc' ? [bucket.start, bucket.end] : [bucket.end, bucket.start]
  while (edges.length <= bucketsAhead) {
    if (order === 'asc' ? bucket.end >= to : bucket.start <= from) break
    bucket = buckets.at(order === 'asc' ? bucket.end : bucket.start - 1)
    edges.push(order === 'asc' ? bucket.end : bucket.start)
  }
  return edges
}

function decodeSummary(reply: Reply): PartSummary {
  const [datetime, count, numbers, ...texts] = reply as readonly [number, number, number, ...Buffer[]]
  const [sum, compensation, min, max, first, last] = texts.map(String)
  return {
    datetime,
    count,
    numbers,
    sum: Number(sum),
    compensation: Number(compensation),
    min: numbers === 0 ? Number.POSITIVE_INFINITY : Number(min),
    max: numbers === 0 ? Number.NEGATIVE_INFINITY : Number(max),
    first: first ?? 'null',
    last: last ?? 'null',
  }
}
