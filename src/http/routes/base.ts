import type { FastifyInstance } from 'fastify'
import { ThingwireError } from '../../errors.ts'
import type { Operation } from '../operation/operation.ts'
import { replyError } from '../reply/reply-error.ts'

export const refuseBase: Operation = {
  id: 'refuseBase',
  group: 'Service',
  summary: 'Check that the service answers',
  description: 'Some clients use this path as a test. The answer is always 401.',
  credential: 'none',
  answers: {},
  refusals: ['invalid_session'],
}

/** `GET /v2/`: some clients try their credential on it. */
export function baseRoute(scope: FastifyInstance): void {
  // Not thrown: it is no credential that has failed.
  scope.get('/', { config: { operation: refuseBase } }, (request, reply) => {
    return replyError(new ThingwireError('invalid_session', 'Invalid session token'), request, reply)
  })
}
