import type { FastifyInstance } from 'fastify'
import { formatDatetime } from '../../core/record/datetime.ts'
import { isToken } from '../../core/token.ts'
import type { HttpThings } from '../http-things.ts'
import { jsonRoute } from '../reply/json-route.ts'
import { credentialOf } from '../request/credential.ts'
import type { JsonBodies } from '../request/json-bodies.ts'
import type { OfThing } from '../request/paths.ts'
import { createThingSession, thingSessionBody } from './thing-sessions.operation.ts'

/** `POST /v2/things/<ref>/sessions`: a session for this one thing. */
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
