import type { FastifyInstance } from 'fastify'
import { refusalReason } from '../../http/reply/reply-error.ts'
import type { Observations } from './observations.ts'

/** Counts the refusals of the HTTP door. */
export function watchAnswers(app: FastifyInstance, observations: Observations): void {
  app.addHook('onResponse', (_request, reply, done) => {
    const reason = refusalReason(reply)
    if (reason !== undefined) observations.answeredError(reason)
    done()
  })
}
