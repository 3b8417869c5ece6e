import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { arrayParts } from '../../core/record/record-text.ts'
import { ThingwireError } from '../../errors.ts'
import type { HttpThings } from '../http-things.ts'
import { chosenInterval, intervalSummary, intervals, ofIntervals } from '../operation/intervals.ts'
import { linkToNext, type Operation } from '../operation/operation.ts'
import { endDate, limit, order, queryParameter, ref, startDate } from '../operation/parameters.ts'
import { ofThing } from '../operation/refusals.ts'
import { type AggregateAnswer, aggregate } from '../reading/aggregate.ts'
import { aggregateQueryOf, keysOf } from '../reading/aggregate-query.ts'
import { createReads } from '../reading/magic-states.ts'
import { readerOf } from '../reading/reader-of.ts'
import { intervalHeader, replyIntervals } from '../reply/reply-intervals.ts'
import { credentialOf } from '../request/credential.ts'
import type { OfThing } from '../request/paths.ts'
import { Query } from '../request/query.ts'

export const readAggregates: Operation = {
  id: 'readAggregates',
  group: 'Resources',
  summary: 'Read intervals of several resources',
  description:
    '`aggregate` and `points` for up to 20 resources at once. If the intervals of one key end early, those of all keys end there, ' +
    'and `Link` continues all of them. A key that was never written has an empty array; if no key was ever written, 404.',
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

/** `GET /v2/things/<ref>/aggregates`: intervals of several resources. */
export function aggregatesRoute(
  scope: FastifyInstance,
  { access, records, magic, costlyReads }: HttpThings,
): void {
  const { history } = createReads(records, magic)
  scope.get<OfThing>(
    '/things/:ref/aggregates',
    { config: { operation: readAggregates } },
    async (request, reply) => {
      const thingId = await access.authorise(request.params.ref, credentialOf(request), 'read')
      const query = new Query(request)
      const keys = keysOf(query)
      const asked = await aggregateQueryOf(query, keys.length)
      if (!asked) throw new ThingwireError('invalid_aggregate')
      const reader = await readerOf(access, request, thingId)
      return await costlyReads.run(reader, async () => {
        const answer = await aggregate(history, thingId, keys, asked)
        return await replyIntervals(reply, query, answer, membersOf(answer))
      })
    },
  )
}

function* membersOf({ series }: AggregateAnswer): Generator<string> {
  let before = '{'
  for (const [key, items] of series) {
    yield `${before}${JSON.stringify(key)}:`
    yield* arrayParts(items)
    before = ','
  }
  yield '}'
}
