import type { FastifyInstance } from 'fastify'
import { serverTimeText } from '../../core/time/server-time.ts'
import { ThingwireError } from '../../errors.ts'
import type { HttpThings } from '../http-things.ts'
import { replyJson } from '../reply/reply-json.ts'
import { Query } from '../request/query.ts'
import { readServerTime } from './date.operation.ts'

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
