import { z } from 'zod'
import { chosenInterval, intervalSummary, intervals, ofIntervals } from '../operation/intervals.ts'
import { linkToNext, type Operation } from '../operation/operation.ts'
import { endDate, limit, order, queryParameter, ref, startDate } from '../operation/parameters.ts'
import { ofThing } from '../operation/refusals.ts'
import { intervalHeader } from '../reply/reply-intervals.ts'

export const readAggregates: Operation = {
  id: 'readAggregates',
  group: 'Resources',
  summary: 'Read intervals of several resources',
  description:
    'As `aggregate` and `points` of one resource, for up to 20. `Link` goes on for all of them: where one ends early, all end. A ' +
    'key that was never written has an empty array, unless none of them was.',
  credential: 'thing',
  parameters: [
    ref,
    {
      ...queryParameter('keys', 'Keys of up to 20 resources, separated by commas.', 'temperature,humidity'),
      isRequired: true,
    },
    limit('intervals of each key', '1000', 10_000),
    startDate,
    endDate,
    order,
    ...intervals,
  ],
  answers: {
    200: {
      description: 'The intervals of each key, in the order in which the keys were asked for.',
      content: {
        'application/json': {
          schema: z.record(z.string(), z.array(intervalSummary)),
          example: { temperature: [{ datetime: '2026-11-21T09:00:00.000Z', avg: 21.5 }], humidity: [] },
        },
      },
      headers: { Link: linkToNext, [intervalHeader]: chosenInterval },
    },
  },
  refusals: [
    ...ofThing,
    'invalid_query',
    'invalid_limit',
    'invalid_range',
    'invalid_keys',
    ...ofIntervals,
    'unknown_resource',
  ],
}
