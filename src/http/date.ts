import type { FastifyInstance } from 'fastify'
import { formatDatetime } from '../core/datetime.ts'
import { ThingwireError } from '../errors.ts'
import { Query } from './query.ts'
import { replyJson } from './reply-json.ts'
import type { HttpThings } from './things.ts'

/** `GET /v2/utils/date` [seed 4.2]. */
export function dateRoute(scope: FastifyInstance, { access, clock }: HttpThings): void {
  scope.get('/utils/date', async (request, reply) => {
    const query = new Query(request)
    const thingToken = query.text('thingToken')
    if (!thingToken) throw new ThingwireError('missing_thing_token')
    await access.thingOfToken(thingToken)
    const format = query.oneOf('format', ['UTC', 'unix_timestamp'])
    const now = clock.receive()
    const value = format === 'UTC' ? formatDatetime(now) : Math.floor(now / 1000)
    return replyJson(reply, 200, JSON.stringify([{ key: 'date', value }]))
  })
}
