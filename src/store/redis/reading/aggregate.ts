import { Aggregation } from '../../../core/record/aggregation.ts'
import type { BucketSummary } from '../../../core/record/buckets.ts'
import { latestDatetime } from '../../../core/record/datetime.ts'
import type { AggregateQuery, Aggregates } from '../../contract.ts'
import type { RedisDatabase } from '../connection/database.ts'
import { type Reply, Script } from '../script.ts'

const aggregateScript = new Script('aggregate', 'time-line')

/** Of one piece. */
const mostRollups = 256
/** Buckets whose edges a piece is given: few pieces have records of more. */
const bucketsAhead = 128

const datetimeLength = 6

interface Piece {
  /** Newest write number when it was read. */
  readonly newest: number
  /** In the order of the query; those of one bucket one behind another. */
  readonly summaries: readonly PartSummary[]
  /** Position up to which records were looked at, if there is more. */
  readonly end: Buffer | undefined
}

/** Of records that are in one bucket. */
interface PartSummary extends Omit<BucketSummary, 'start' | 'end'> {
  /** Of one of them, milliseconds. */
  readonly datetime: number
}

/**
 * The aggregates of one moment, however many pieces they are put together from; what is removed meanwhile may be missing.
 *
 * @param closing why, once the store closes: then it ends at once
 * @returns undefined if nothing was ever stored under the key
 * @throws ThingwireError store_unavailable
 */
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

async function readPiece(
  database: RedisDatabase,
  thingId: string,
  key: string,
  query: AggregateQuery,
  asOf: number | undefined,
  after: Buffer | undefined,
): Promise<Piece | undefined> {
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

/** A datetime that no record of the range is in front of; undefined: none is known. */
function beginOf({ order, from, to }: AggregateQuery): number | undefined {
  if (order === 'asc') return from
  return to === undefined ? undefined : Math.max(to - 1, 0)
}

/** Edges of buckets in the order of the query, from the one that a datetime is in. */
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
