import type { TimeRange } from '../../core/ports.ts'
import { type TimeZone, timeZoneOf } from '../../core/time/time-zone.ts'
import { ThingwireError } from '../../errors.ts'
import { isKey } from '../request/paths.ts'
import type { Query } from '../request/query.ts'
import { bucketsOf, type Interval, parseInterval } from './interval.ts'
import { type AggregateFunction, isAggregateFunction } from './interval-summary.ts'

const maximumKeys = 20
const defaultIntervals = 1000
const maximumIntervals = 10_000
/** Maximum number of intervals of all keys in one answer: about one per pixel for a screen full of charts. */
const maximumOfAllKeys = 40_000
/** Functions for `points`. A chart draws avg as a line, min to max as a band, and last as text; count adds live records to avg. */
const ofPoints: readonly AggregateFunction[] = ['avg', 'min', 'max', 'count', 'first', 'last']

/** Number of intervals up to which a read is as cheap as a short page. */
const fewIntervals = 100

export interface AggregateQuery {
  /** The functions in the order of the query. */
  readonly functions: readonly AggregateFunction[]
  /** Undefined: use the shortest round length with which the range has at most `limit` intervals. */
  readonly interval: Interval | undefined
  /** Undefined: UTC. */
  readonly zone: TimeZone | undefined
  readonly order: 'asc' | 'desc'
  /** Maximum number of intervals per key in one answer. */
  readonly limit: number
  readonly range: TimeRange
  /** Whether intervals without records are included. */
  readonly isWithEmpty: boolean
}

/** The distinct keys of a query, in the order of the query. @throws ThingwireError invalid_keys */
export function keysOf(query: Query): readonly string[] {
  const keys = [...new Set(query.text('keys', 'invalid_keys')?.split(','))]
  if (keys.length < 1 || keys.length > maximumKeys || !keys.every(isKey))
    throw new ThingwireError('invalid_keys')
  return keys
}

/**
 * The intervals that a query requests by `aggregate` and `interval`, or by `points`; undefined without these parameters.
 *
 * @param keys number of keys
 * @throws ThingwireError invalid_aggregate, invalid_interval, invalid_points, invalid_time_zone, invalid_range,
 * invalid_limit, invalid_query
 */
export async function aggregateQueryOf(query: Query, keys: number): Promise<AggregateQuery | undefined> {
  const most = Math.min(maximumIntervals, Math.floor(maximumOfAllKeys / keys))
  const shape = pointsOf(query, most) ?? intervalsOf(query, most)
  if (!shape) return undefined
  return {
    ...shape,
    order: query.oneOf('order', ['desc', 'asc']),
    range: query.range(),
    isWithEmpty: query.flag('empty') ?? false,
    zone: await zoneOf(query),
  }
}

/** Whether an answer is cheap, whatever is stored. False with a time zone, because clock changes have to be looked up. */
export function hasFewIntervals({ interval, zone, limit, range: { from, to } }: AggregateQuery): boolean {
  if (!interval || zone) return false
  if (limit <= fewIntervals) return true
  if (from === undefined || to === undefined) return false
  const { start, end } = bucketsOf(interval).at(from)
  return to - from <= fewIntervals * (end - start)
}

type Shape = Pick<AggregateQuery, 'functions' | 'interval' | 'limit'>

function pointsOf(query: Query, most: number): Shape | undefined {
  const text = query.text('points', 'invalid_points')
  if (text === undefined) return undefined
  const points = /^\d+$/.test(text) ? Number(text) : 0
  if (points < 1) throw new ThingwireError('invalid_points', 'points must be a positive integer')
  if (['aggregate', 'interval', 'limit'].some(name => query.has(name))) {
    throw new ThingwireError('invalid_points', 'points cannot be combined with aggregate, interval or limit')
  }
  return { functions: ofPoints, interval: undefined, limit: Math.min(points, most) }
}

function intervalsOf(query: Query, most: number): Shape | undefined {
  const functions = query.text('aggregate', 'invalid_aggregate')
  if (functions === undefined) return undefined
  return {
    functions: parseFunctions(functions),
    interval: parseInterval(query.text('interval', 'invalid_interval')),
    limit: query.limit(Math.min(defaultIntervals, most), most),
  }
}

function parseFunctions(text: string): readonly AggregateFunction[] {
  const names = [...new Set(text.split(','))]
  if (names.every(isAggregateFunction)) return names
  const message =
    'aggregate must be one or more of avg, min, max, sum, count, first, last, separated by commas'
  throw new ThingwireError('invalid_aggregate', message)
}

async function zoneOf(query: Query): Promise<TimeZone | undefined> {
  const name = query.text('tz', 'invalid_time_zone')
  if (name === undefined) return undefined
  // The plus sign of Etc/GMT+3 arrives as a space if it was not percent-encoded.
  const zone = await timeZoneOf(name.replace(' ', '+'))
  if (zone) return zone
  throw new ThingwireError(
    'invalid_time_zone',
    'tz must be a name of the IANA time zone database, such as Europe/Madrid',
  )
}
