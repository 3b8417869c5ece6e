import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { formatDatetime } from '../../core/record/datetime.ts'
import { isToken } from '../../core/token.ts'
import type { HttpThings } from '../http-things.ts'
import { json, type Operation } from '../operation/operation.ts'
import { ref } from '../operation/parameters.ts'
import { ofBody, ofThing } from '../operation/refusals.ts'
import { minted, mintedExample, sessionTerms } from '../operation/session.ts'
import { jsonRoute } from '../reply/json-route.ts'
import { credentialOf } from '../request/credential.ts'
import type { JsonBodies } from '../request/json-bodies.ts'
import type { OfThing } from '../request/paths.ts'

const thingSessionBody = z.strictObject(
  sessionTerms,
  'the body must be a JSON object {"access","expiresIn"?}',
)

const createThingSession: Operation = {
  id: 'createThingSession',
  group: 'Credentials',
  summary: 'Mint a session for one thing',
  description:
    'The request needs the token of the thing, or the admin key. The session lasts for `expiresIn` (default one day, at most ' +
    '30 days) and ends with the token that minted it. A thing has at most 100 live sessions.',
  credential: 'thing',
  parameters: [ref],
  body: { schema: thingSessionBody, example: { access: 'read', expiresIn: 3600 } },
  answers: {
    201: json('The token is shown only once.', z.object({ status: z.literal('created'), ...minted }), {
      status: 'created',
      ...mintedExample,
    }),
  },
  refusals: [...ofThing, ...ofBody, 'too_many_sessions'],
}

/** `POST /v2/things/<ref>/sessions`: a session for this thing only. */
export function thingSessionRoute(scope: FastifyInstance, things: HttpThings, bodies: JsonBodies): void {
  const { access, sessions } = things
  jsonRoute<OfThing>(scope, 'POST', '/things/:ref/sessions', createThingSession, async request => {
    const { ref } = request.params
    const credential = isToken(ref) ? ref : credentialOf(request)
    const thingId = await access.authorise(ref, credential, 'mint a session')
    const terms = bodies.read(request, thingSessionBody)
    const minted = await sessions.createForThing(thingId, credential ?? '', terms)
    const { sessionToken, sessionId, expiresAt } = minted
    return { status: 'created', sessionToken, sessionId, expiresAt: formatDatetime(expiresAt) }
  })
}
