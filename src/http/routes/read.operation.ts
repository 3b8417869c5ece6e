import { z } from 'zod'
import { chosenInterval, intervalSummary, intervals, ofIntervals } from '../operation/intervals.ts'
import { linkToNext, type Operation } from '../operation/operation.ts'
import { cursor, endDate, key, limit, order, ref, startDate } from '../operation/parameters.ts'
import { ofThing } from '../operation/refusals.ts'
import { givenRecord } from '../operation/shapes.ts'
import { intervalHeader } from '../reply/reply-intervals.ts'

const record = { key: 'temperature', value: 21.5, datetime: '2026-11-21T09:30:00.000Z' }

export const readResource: Operation = {
  id: 'readResource',
  group: 'Resources',
  summary: 'Read the records of a resource',
  description:
    'Newest first; one record unless `limit` asks for more. `aggregate` with `interval` gives a summary of each interval with ' +
    'records, `points` one of each column of a chart. `Accept: text/csv` or `application/x-ndjson` streams the whole range. A magic resource gives its state; ' +
    'with a range, `order=asc` or a `limit` over 1 it gives the records that were written to it.',
  credential: 'thing',
  parameters: [
    ref,
    key,
    limit('records, or intervals', '1, 1,000 intervals, all of an export', 1000),
    startDate,
    endDate,
    order,
    cursor('the opaque text in the `Link` of the page before', 'an-opaque-text'),
    ...intervals,
  ],
  answers: {
    200: {
      description: 'Records, or summaries of intervals; an empty array if the range is empty.',
      content: {
        'application/json': {
          schema: z.union([z.array(givenRecord), z.array(intervalSummary)]),
          example: [record],
        },
        'text/csv': {
          schema: z.string(),
          example: 'datetime,value,lat,long\r\n2026-11-21T09:30:00.000Z,21.5,,\r\n',
        },
        'application/x-ndjson': { schema: z.string(), example: `${JSON.stringify(record)}\n` },
      },
      headers: { Link: linkToNext, [intervalHeader]: chosenInterval },
    },
  },
  refusals: [
    ...ofThing,
    'invalid_query',
    'invalid_limit',
    'invalid_cursor',
    'invalid_range',
    ...ofIntervals,
    'unknown_resource',
  ],
}
