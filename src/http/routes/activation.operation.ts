import { z } from 'zod'
import { json, type Operation } from '../operation/operation.ts'
import { ofActivationCode, ofBody } from '../operation/refusals.ts'
import { activation, activationExample } from '../operation/shapes.ts'

export const activationBody = z.object(
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
