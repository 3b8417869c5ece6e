import type { FastifyInstance } from 'fastify'
import { refusalReason } from '../../http/reply-error.ts'
import type { Observations } from './observations.ts'

/** Counts the answers of the HTTP door. */
export function watchAnswers(app: FastifyInstance, observations: Observations): void {
  app.addHook('onResponse', ({ method, routeOptions }, reply, done) => {
    const reason = refusalReason(reply)
    if (reason !== undefined) observations.answeredError(reason)
    const isWrite = method === 'POST' && routeOptions.url === '/v2/things/:ref'
    if (isWrite && reply.statusCode === 201) observations.answeredWrite(reply.elapsedTime / 1_000)
    done()
  })
}
