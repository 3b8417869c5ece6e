import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { serverTimeText } from '../../core/time/server-time.ts'
import { ThingwireError } from '../../errors.ts'
import type { HttpThings } from '../http-things.ts'
import { json, type Operation } from '../operation/operation.ts'
import { queryParameter } from '../operation/parameters.ts'
import { ofThingToken } from '../operation/refusals.ts'
import { serverTime } from '../operation/shapes.ts'
import { replyJson } from '../reply/reply-json.ts'
import { Query } from '../request/query.ts'

export const readServerTime: Operation = {
  id: 'readServerTime',
  group: 'Things',
  summary: 'Read the time of the server',
  credential: 'token',
  parameters: [
    queryParameter(
      'format',
      'UTC, the default, or whole seconds since 1970.',
      'unix_timestamp',
      z.enum(['UTC', 'unix_timestamp']),
    ),
  ],
  answers: { 200: json('The time.', serverTime, [{ key: 'date', value: '2026-11-21T09:30:00.000Z' }]) },
  refusals: [...ofThingToken, 'missing_thing_token', 'invalid_query'],
}

/** `GET /v2/utils/date` [interface 4.2]. */
export function dateRoute(scope: FastifyInstance, { access, clock }: HttpThings): void {
  scope.get('/utils/date', { config: { operation: readServerTime } }, async (request, reply) => {
    const query = new Query(request)
    const thingToken = query.text('thingToken')
    if (!thingToken) throw new ThingwireError('missing_thing_token')
    await access.thingOfToken(thingToken)
    const format = query.oneOf('format', ['UTC', 'unix_timestamp'])
    return replyJson(reply, 200, serverTimeText(clock.now(), format))
  })
}
