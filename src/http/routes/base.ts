import type { FastifyInstance } from 'fastify'
import { ThingwireError } from '../../errors.ts'
import { replyError } from '../reply/reply-error.ts'
import { refuseBase } from './base.operation.ts'

/** `GET /v2/`: some clients try their credential on it. */
export function baseRoute(scope: FastifyInstance): void {
  // Not thrown: it is no credential that has failed.
  scope.get('/', { config: { operation: refuseBase } }, (request, reply) => {
    return replyError(new ThingwireError('invalid_session', 'Invalid session token'), request, reply)
  })
}
