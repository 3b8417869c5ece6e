import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { activationText } from '../../access/things/activation-codes.ts'
import type { HttpThings } from '../http-things.ts'
import { json, type Operation } from '../operation/operation.ts'
import { ofActivationCode, ofBody } from '../operation/refusals.ts'
import { activation, activationExample } from '../operation/shapes.ts'
import { replyJson } from '../reply/reply-json.ts'
import type { JsonBodies } from '../request/json-bodies.ts'

const activationBody = z.object(
  { activationCode: z.string('must be a string') },
  'the body must be a JSON object {"activationCode"}',
)

export const activateThing: Operation = {
  id: 'activateThing',
  group: 'Things',
  summary: 'Register a thing with an activation code',
  description:
    'Until the first use of the new token, the same code answers again for the same thing, with a fresh token. So a device ' +
    'can repeat the request after a lost answer.',
  credential: 'none',
  body: { schema: activationBody, example: { activationCode: 'Zm9vYmFyLXRoaXMtaXMtbm90LWEtY29kZQ' } },
  answers: { 201: json('Registered.', activation, activationExample) },
  refusals: [...ofActivationCode, ...ofBody],
}

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
