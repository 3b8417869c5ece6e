import type { FastifyInstance } from 'fastify'
import { serverTimeText } from '../core/server-time.ts'
import { ThingwireError } from '../errors.ts'
import { readServerTime } from './operations/things.ts'
import { Query } from './query.ts'
import { replyJson } from './reply-json.ts'
import type { HttpThings } from './things.ts'

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
