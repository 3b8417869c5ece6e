import { z } from 'zod'
import type { Reason } from '../../errors.ts'
import { intervalForm } from '../reading/interval.ts'
import { flag, queryParameter } from './parameters.ts'
import { datetime } from './shapes.ts'

/** Parameters of every request for intervals. */
export const intervals = [
  queryParameter(
    'aggregate',
    'One or more of avg, min, max, sum, count, first, last, separated by commas. The first four use numbers only.',
    'avg,min,max',
  ),
  queryParameter(
    'interval',
    'With `aggregate`: a whole number and ms, s, m, h, d or mo. Intervals are counted from 1970-01-01 UTC, days and months from ' +
      'that day in `tz`.',
    '1h',
    z.string().regex(intervalForm),
  ),
  queryParameter(
    'tz',
    'With `aggregate` or `points`: time zone of the days and months in intervals of d and mo, by its name in the IANA database. Default UTC.',
    'Europe/Madrid',
  ),
  flag(
    'empty',
    'With `aggregate` or `points`: true to include intervals without records, from the start to the end of the range.',
  ),
  queryParameter(
    'points',
    'Instead of `aggregate`, `interval` and `limit`: the maximum number of intervals in the range, 1 to 10,000. They have a round ' +
      'length, with avg, min, max, count, first and last.',
    800,
    z.int().min(1),
  ),
]

export const intervalSummary = z.object({
  datetime,
  avg: z.number().nullish(),
  min: z.number().nullish(),
  max: z.number().nullish(),
  sum: z.number().nullish(),
  count: z.int().optional(),
  first: z.unknown().optional(),
  last: z.unknown().optional(),
})

/** Describes the header `Thingwire-Interval`. */
export const chosenInterval = 'With `points`: how long the intervals are, such as `5m`.'

export const ofIntervals = [
  'invalid_aggregate',
  'invalid_interval',
  'invalid_points',
  'invalid_time_zone',
] as const satisfies readonly Reason[]
