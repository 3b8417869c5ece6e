import type { FastifyInstance } from 'fastify'
import { activationText } from '../../access/things/activation-text.ts'
import type { HttpThings } from '../http-things.ts'
import { replyJson } from '../reply/reply-json.ts'
import type { JsonBodies } from '../request/json-bodies.ts'
import { activateThing, activationBody } from './activation.operation.ts'

/** `POST /v2/things`: a thing registers itself. */
export function activationRoute(
  scope: FastifyInstance,
  { activationCodes }: HttpThings,
  bodies: JsonBodies,
): void {
  scope.post('/things', { config: { operation: activateThing } }, async (request, reply) => {
    const { activationCode } = bodies.read(request, activationBody)
    return replyJson(reply, 201, activationText(await activationCodes.activate(activationCode)))
  })
}
