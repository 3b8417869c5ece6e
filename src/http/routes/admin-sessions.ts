import type { FastifyInstance } from 'fastify'
import type { AccessSessionSummary } from '../../access/access.ts'
import { formatDatetime } from '../../core/record/datetime.ts'
import type { HttpThings } from '../http-things.ts'
import { jsonRoute } from '../reply/json-route.ts'
import type { JsonBodies } from '../request/json-bodies.ts'
import { Query } from '../request/query.ts'
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
  { sessions, costlyReads }: HttpThings,
  bodies: JsonBodies,
): void {
  jsonRoute(scope, 'POST', '/sessions', createSession, async request => {
    const { things, ...terms } = bodies.read(request, sessionBody)
    const { sessionToken, sessionId, expiresAt } = await sessions.create(things, terms)
    return { sessionToken, sessionId, expiresAt: formatDatetime(expiresAt) }
  })

  jsonRoute(scope, 'GET', '/sessions', listSessions, async request => {
    const query = new Query(request)
    const cursor = query.text('cursor', 'invalid_cursor')
    const asked = { limit: query.limit(defaultSessions), ...(cursor === undefined ? {} : { cursor }) }
    const { sessions: page, next } = await costlyReads.run('admin', () => sessions.list(asked))
    return { sessions: page.map(describe), next }
  })

  jsonRoute<OfSession>(scope, 'GET', '/sessions/:sessionId', readSession, async ({ params }) => {
    return describe(await sessions.get(params.sessionId))
  })

  jsonRoute<OfSession>(scope, 'DELETE', '/sessions/:sessionId', endSession, async ({ params }) => {
    await sessions.remove(params.sessionId)
    return { status: 'success' }
  })
}

function describe(session: AccessSessionSummary) {
  const { sessionId, things, access, topics, isOperators, createdAt, expiresAt } = session
  return {
    sessionId,
    things,
    access,
    topics,
    mintedBy: isOperators ? 'operator' : 'thing',
    createdAt: formatDatetime(createdAt),
    expiresAt: formatDatetime(expiresAt),
  }
}
