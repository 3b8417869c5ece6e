import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { activationText } from '../access/activation-text.ts'
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
    return replyJson(reply, 201, activationText(await activationCodes.activate(activationCode)))
  })
}
