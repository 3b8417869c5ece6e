import type { FastifyInstance } from 'fastify'
import { arrayParts } from '../../core/record/record-text.ts'
import { ThingwireError } from '../../errors.ts'
import type { HttpThings } from '../http-things.ts'
import { type AggregateAnswer, aggregate } from '../reading/aggregate.ts'
import { aggregateQueryOf, keysOf } from '../reading/aggregate-query.ts'
import { createReads } from '../reading/magic-states.ts'
import { readerOf } from '../reading/reader-of.ts'
import { replyIntervals } from '../reply/reply-intervals.ts'
import { credentialOf } from '../request/credential.ts'
import type { OfThing } from '../request/paths.ts'
import { Query } from '../request/query.ts'
import { readAggregates } from './aggregates.operation.ts'

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
