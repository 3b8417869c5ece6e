import type { FastifyInstance } from 'fastify'
import { formatDatetime } from '../../core/record/datetime.ts'
import { isToken } from '../../core/token.ts'
import type { HttpThings } from '../http-things.ts'
import { replyJson } from '../reply/reply-json.ts'
import { credentialOf } from '../request/credential.ts'
import type { OfThing } from '../request/paths.ts'
import { jsonBodyOf } from '../request/request-body.ts'
import { termsOf } from '../request/session-body.ts'
import { createThingSession, thingSessionBody } from './thing-sessions.operation.ts'

/** `POST /v2/things/<ref>/sessions`: a session for this one thing. */
export function thingSessionRoute(scope: FastifyInstance, things: HttpThings, bodyLimit: number): void {
  const { access, sessions } = things
  scope.post<OfThing>(
    '/things/:ref/sessions',
    { config: { operation: createThingSession } },
    async (request, reply) => {
      const { ref } = request.params
      const credential = isToken(ref) ? ref : credentialOf(request)
      const thingId = await access.authorise(ref, credential, 'mint a session')
      const terms = termsOf(jsonBodyOf(request, bodyLimit, thingSessionBody))
      const minted = await sessions.createForThing(thingId, credential ?? '', terms)
      const { sessionToken, sessionId, expiresAt } = minted
      const answer = { status: 'created', sessionToken, sessionId, expiresAt: formatDatetime(expiresAt) }
      return replyJson(reply, 201, JSON.stringify(answer))
    },
  )
}
