import type { FastifyInstance } from 'fastify'
import { intervalHeader } from './reply/reply-intervals.ts'
import { replyJson } from './reply/reply-json.ts'

const headerNames = /^[A-Za-z0-9-]+( *, *[A-Za-z0-9-]+)*$/

/**
 * Lets pages of any origin in, or of `allowedOrigins` alone if `*` is not among them, and answers their preflights (contract §6). Any origin is
 * safe: no browser adds a credential by itself. Written here because a device must see none of these headers and a
 * preflight must have a body, and @fastify/cors sends `Vary` to all and an empty answer.
 */
export function allowOrigins(scope: FastifyInstance, allowedOrigins: readonly string[]): void {
  const any = allowedOrigins.includes('*')
  scope.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers
    if (!any) reply.header('vary', 'Origin')
    if (origin !== undefined && (any || allowedOrigins.includes(origin))) {
      reply.header('access-control-allow-origin', any ? '*' : origin)
      reply.header('access-control-expose-headers', `Date, Link, Retry-After, ${intervalHeader}`)
    }
    if (request.method !== 'OPTIONS') return done()
    const wanted = request.headers['access-control-request-headers']
    reply.header('access-control-allow-methods', 'GET, HEAD, POST, PATCH, DELETE')
    if (wanted !== undefined && headerNames.test(wanted)) reply.header('access-control-allow-headers', wanted)
    reply.header('access-control-max-age', 86_400)
    replyJson(reply, 200, '{}')
  })
}
