import type { FastifyInstance, FastifyRequest, RouteGenericInterface } from 'fastify'
import type { Operation } from '../operation/operation.ts'
import { replyJson } from './reply-json.ts'

/** Registers a route that answers with the document that `answer` returns and with the first status of `operation`. */
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
      // The caller declares the parameters of `url` in `Route`.
      const document = await answer(request as FastifyRequest<Route>)
      return replyJson(reply, status, JSON.stringify(document))
    },
  })
}
