import { z } from 'zod'
import type { Operation } from '../operation/operation.ts'
import { cursor, endDate, key, limit, queryParameter, ref, startDate } from '../operation/parameters.ts'
import { ofThing } from '../operation/refusals.ts'
import { datetime, givenRecord } from '../operation/shapes.ts'

const record = { key: 'temperature', value: 21.5, datetime: '2026-11-21T09:30:00.000Z' }

const summary = z.object({
  datetime,
  avg: z.number().nullish(),
  min: z.number().nullish(),
  max: z.number().nullish(),
  sum: z.number().nullish(),
  count: z.int().optional(),
  first: z.unknown().optional(),
  last: z.unknown().optional(),
})

export const readResource: Operation = {
  id: 'readResource',
  group: 'Resources',
  summary: 'Read the records of a resource',
  description:
    'Newest first; one record unless `limit` asks for more. `aggregate` with `interval` gives a summary of each interval with ' +
    'records. `Accept: text/csv` or `application/x-ndjson` streams the whole range. A magic resource gives its state; ' +
    'with a range, `order=asc` or a `limit` over 1 it gives the records that were written to it.',
  credential: 'thing',
  parameters: [
    ref,
    key,
    limit('records, or intervals', '1, 1,000 intervals, all of an export', 1000),
    startDate,
    endDate,
    queryParameter(
      'order',
      'Newest first (desc, the default) or oldest first (asc).',
      'asc',
      z.enum(['desc', 'asc']),
    ),
    cursor('the opaque text in the `Link` of the page before', 'an-opaque-text'),
    queryParameter(
      'aggregate',
      'One or more of avg, min, max, sum, count, first, last, separated by commas. The first four use numbers only.',
      'avg,min,max',
    ),
    queryParameter(
      'interval',
      'With `aggregate`: a whole number and s, m, h or d. Intervals are aligned to 1970-01-01 UTC.',
      '1h',
      z.string().regex(/^[1-9]\d{0,9}[smhd]$/),
    ),
  ],
  answers: {
    200: {
      description: 'Records, or summaries of intervals; an empty array if the range is empty.',
      content: {
        'application/json': { schema: z.union([z.array(givenRecord), z.array(summary)]), example: [record] },
        'text/csv': {
          schema: z.string(),
          example: 'datetime,value,lat,long\r\n2026-11-21T09:30:00.000Z,21.5,,\r\n',
        },
        'application/x-ndjson': { schema: z.string(), example: `${JSON.stringify(record)}\n` },
      },
      headers: {
        Link: 'Address of the next page, if there is one: `<?…>; rel="next"`, relative to that of the request.',
      },
    },
  },
  refusals: [
    ...ofThing,
    'invalid_query',
    'invalid_limit',
    'invalid_cursor',
    'invalid_range',
    'invalid_aggregate',
    'invalid_interval',
    'unknown_resource',
  ],
}
