import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { replyJson } from './reply-json.ts'
import { jsonBodyOf } from './request-body.ts'
import type { HttpThings } from './things.ts'

const activationBody = z.object(
  { activationCode: z.string('must be a string') },
  'the body must be a JSON object {"activationCode"}',
)

/** `POST /v2/things`: a thing registers itself. */
export function activationRoute(
  scope: FastifyInstance,
  { activationCodes }: HttpThings,
  bodyLimit: number,
): void {
  scope.post('/things', async (request, reply) => {
    const { activationCode } = jsonBodyOf(request, bodyLimit, activationBody)
    const { thingToken, thingId } = await activationCodes.activate(activationCode)
    const answer = { status: 'created', message: 'thing activated', thingToken, thingId }
    return replyJson(reply, 201, JSON.stringify(answer))
  })
}
