import { usageError } from '../exit.ts'
import { timeRange } from '../time.ts'
import type { ReadQuery } from './read-records.ts'

/** Options of `thingwire read` that say what is read. */
export interface ReadOptions {
  readonly from?: string
  readonly to?: string
  readonly limit?: string
  readonly order?: string
  readonly aggregate?: string
  readonly interval?: string
  readonly points?: string
  readonly tz?: string
  readonly empty?: true
}

const names = ['from', 'to', 'limit', 'order', 'aggregate', 'interval', 'points', 'tz', 'empty'] as const
const functions: ReadonlySet<string> = new Set(['avg', 'min', 'max', 'sum', 'count', 'first', 'last'])

/** @throws CommandError usage, naming the option that is wrong */
export function queryOf(options: ReadOptions): ReadQuery {
  const { from, to, order, aggregate, interval, points, tz, empty } = options
  if ((aggregate === undefined) !== (interval === undefined)) {
    throw usageError('--aggregate and --interval go together: --aggregate avg --interval 5m')
  }
  if (order !== undefined && order !== 'asc' && order !== 'desc') {
    throw usageError(`--order must be asc or desc: it is ${order}`)
  }
  if (aggregate !== undefined && !aggregate.split(',').every(name => functions.has(name))) {
    const known = [...functions].join(', ')
    throw usageError(`--aggregate must be one or more of ${known}, separated by commas: it is ${aggregate}`)
  }
  if (interval !== undefined && !/^[1-9]\d{0,9}(ms|s|m|h|d|mo)$/.test(interval)) {
    throw usageError(
      `--interval must be a whole number and ms, s, m, h, d or mo, such as 5m: it is ${interval}`,
    )
  }
  if (points !== undefined) {
    if (!/^[1-9]\d*$/.test(points))
      throw usageError(`--points must be a whole number, 1 or more: it is ${points}`)
    refuseOthers(
      options,
      ['from', 'to', 'order', 'points', 'tz', 'empty'],
      'cannot be combined with --points',
    )
  } else if (aggregate === undefined) {
    const why = 'needs --aggregate and --interval, or --points'
    refuseOthers(options, ['from', 'to', 'limit', 'order'], why)
  }
  return { ...timeRange(from, to), order, aggregate, interval, points, tz, empty }
}

/** @throws CommandError usage */
export function limitOf({ limit }: ReadOptions): number | undefined {
  if (limit === undefined) return undefined
  if (/^[1-9]\d*$/.test(limit)) return Number(limit)
  throw usageError(`--limit must be a whole number, 1 or more: it is ${limit}`)
}

/** @throws CommandError usage if one is given that has no effect, as `why` says */
export function refuseOthers(options: ReadOptions, taken: readonly (keyof ReadOptions)[], why: string): void {
  const given = names.find(name => options[name] !== undefined && !taken.includes(name))
  if (given !== undefined) throw usageError(`--${given} ${why}`)
}
