import type { FastifyInstance, FastifyRequest, RouteGenericInterface } from 'fastify'
import type { Operation } from '../operation/operation.ts'
import { replyJson } from './reply-json.ts'

/**
 * A route that answers with a JSON document, and with the status that its description names first.
 *
 * @param answer makes the document
 */
export function jsonRoute<Route extends RouteGenericInterface>(
  scope: FastifyInstance,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  url: string,
  operation: Operation,
  answer: (request: FastifyRequest<Route>) => Promise<object>,
): void {
  const status = Number(Object.keys(operation.answers)[0])
  scope.route({
    method,
    url,
    config: { operation },
    handler: async (request, reply) => {
      // What its path holds is known from `url`.
      const document = await answer(request as FastifyRequest<Route>)
      return replyJson(reply, status, JSON.stringify(document))
    },
  })
}
