import type { FastifyInstance } from 'fastify'
import type { AccessSessionSummary } from '../../access/access.ts'
import { formatDatetime } from '../../core/record/datetime.ts'
import type { HttpThings } from '../http-things.ts'
import { replyJson } from '../reply/reply-json.ts'
import { Query } from '../request/query.ts'
import { jsonBodyOf } from '../request/request-body.ts'
import { termsOf } from '../request/session-body.ts'
import {
  createSession,
  endSession,
  listSessions,
  readSession,
  sessionBody,
} from './admin-sessions.operation.ts'

const defaultSessions = 100

interface OfSession {
  Params: { sessionId: string }
}

/** `/v2/admin/sessions[/<sessionId>]`. */
export function adminSessionRoutes(
  scope: FastifyInstance,
  { sessions }: HttpThings,
  bodyLimit: number,
): void {
  scope.post('/sessions', { config: { operation: createSession } }, async (request, reply) => {
    const { things, ...terms } = jsonBodyOf(request, bodyLimit, sessionBody)
    const { sessionToken, sessionId, expiresAt } = await sessions.create(things, termsOf(terms))
    const answer = { sessionToken, sessionId, expiresAt: formatDatetime(expiresAt) }
    return replyJson(reply, 201, JSON.stringify(answer))
  })

  scope.get('/sessions', { config: { operation: listSessions } }, async (request, reply) => {
    const query = new Query(request)
    const cursor = query.text('cursor', 'invalid_cursor')
    const { sessions: page, next } = await sessions.list({
      limit: query.limit(defaultSessions),
      ...(cursor === undefined ? {} : { cursor }),
    })
    return replyJson(reply, 200, JSON.stringify({ sessions: page.map(describe), next }))
  })

  scope.get<OfSession>(
    '/sessions/:sessionId',
    { config: { operation: readSession } },
    async (request, reply) => {
      const session = await sessions.get(request.params.sessionId)
      return replyJson(reply, 200, JSON.stringify(describe(session)))
    },
  )

  scope.delete<OfSession>(
    '/sessions/:sessionId',
    { config: { operation: endSession } },
    async (request, reply) => {
      await sessions.remove(request.params.sessionId)
      return replyJson(reply, 200, JSON.stringify({ status: 'success' }))
    },
  )
}

function describe({ sessionId, things, access, isOperators, createdAt, expiresAt }: AccessSessionSummary) {
  return {
    sessionId,
    things,
    access,
    mintedBy: isOperators ? 'operator' : 'thing',
    createdAt: formatDatetime(createdAt),
    expiresAt: formatDatetime(expiresAt),
  }
}
