import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { AccessSessionSummary } from '../../access/access.ts'
import { formatDatetime } from '../../core/record/datetime.ts'
import type { HttpThings } from '../http-things.ts'
import { json, type Operation } from '../operation/operation.ts'
import { cursor, limit, pathParameter } from '../operation/parameters.ts'
import { ofAdmin, ofBody } from '../operation/refusals.ts'
import { minted, mintedExample, sessionTerms } from '../operation/session.ts'
import { datetime, success, thingId } from '../operation/shapes.ts'
import { topicGrants } from '../operation/topics.ts'
import { jsonRoute } from '../reply/json-route.ts'
import type { JsonBodies } from '../request/json-bodies.ts'
import { Query } from '../request/query.ts'

const thingsRule = 'must be "*" or an array of thing ids'

const sessionBody = z.strictObject(
  {
    things: z.union([z.literal('*'), z.array(z.string())], thingsRule),
    ...sessionTerms,
    topics: topicGrants.optional(),
  },
  'the body must be a JSON object {"things","access","expiresIn"?,"topics"?}',
)

const session = z.object({
  sessionId: z.string(),
  things: z.union([z.literal('*'), z.array(thingId)]),
  access: z.enum(['read', 'write']),
  topics: topicGrants.optional(),
  mintedBy: z.enum(['operator', 'thing']),
  createdAt: datetime,
  expiresAt: datetime,
})

const sessionExample = {
  sessionId: mintedExample.sessionId,
  things: '*',
  access: 'read',
  mintedBy: 'operator',
  createdAt: '2026-11-21T09:30:00.000Z',
  expiresAt: mintedExample.expiresAt,
}
const sessionId = pathParameter('sessionId', 'The session.', mintedExample.sessionId)

export const createSession: Operation = {
  id: 'createSession',
  group: 'Credentials',
  summary: 'Mint a session for some or all things',
  description:
    '`topics`: which topics besides those of things it may use, within the option `topics` of the server or the topics of a source; `things` may then be ' +
    'empty. `read` allows to subscribe, `write` to publish.',
  credential: 'admin',
  body: { schema: sessionBody, example: { things: '*', access: 'read', expiresIn: 3600 } },
  answers: { 201: json('The token is shown only once.', z.object(minted), mintedExample) },
  refusals: [...ofAdmin, ...ofBody, 'unknown_thing'],
}

export const listSessions: Operation = {
  id: 'listSessions',
  group: 'Credentials',
  summary: 'List the live sessions',
  credential: 'admin',
  parameters: [limit('sessions', 100, 1000), cursor('`next` of the page before', mintedExample.sessionId)],
  answers: {
    200: json('A page of sessions.', z.object({ sessions: z.array(session), next: z.string().optional() }), {
      sessions: [sessionExample],
    }),
  },
  refusals: [...ofAdmin, 'invalid_limit', 'invalid_cursor'],
}

export const readSession: Operation = {
  id: 'readSession',
  group: 'Credentials',
  summary: 'Read a session',
  credential: 'admin',
  parameters: [sessionId],
  answers: { 200: json('The session.', session, sessionExample) },
  refusals: [...ofAdmin, 'not_found'],
}

export const endSession: Operation = {
  id: 'endSession',
  group: 'Credentials',
  summary: 'End a session',
  description: 'Its connections close within a second.',
  credential: 'admin',
  parameters: [sessionId],
  answers: { 200: json('Ended.', success, { status: 'success' }) },
  refusals: [...ofAdmin, 'not_found'],
}

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
