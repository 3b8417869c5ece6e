import { z } from 'zod'
import { json, type Operation } from '../operation/operation.ts'
import { ofCredential } from '../operation/refusals.ts'
import { datetime, thingId } from '../operation/shapes.ts'

const principal = z.union([
  z.object({ kind: z.literal('thing'), thingId, name: z.string() }),
  z.object({
    kind: z.literal('session'),
    sessionId: z.string(),
    access: z.enum(['read', 'write']),
    things: z.union([z.literal('*'), z.array(thingId)]),
    isOperators: z.boolean(),
    expiresAt: datetime,
  }),
  // The option `topics` of the server.
  z.object({ kind: z.literal('admin'), topics: z.array(z.string()).optional() }),
])

export const readPrincipal: Operation = {
  id: 'readPrincipal',
  group: 'Credentials',
  summary: 'Read the kind and rights of the credential',
  credential: 'any',
  answers: {
    200: json('A thing, a session, or the operator.', principal, {
      kind: 'thing',
      thingId: 'mzxw6ytboi4dcmjs',
      name: 'boat',
    }),
  },
  refusals: ofCredential,
}
