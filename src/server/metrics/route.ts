import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Registry } from 'prom-client'
import { z } from 'zod'
import { isLoopback } from '../../access/limits/address-key.ts'
import { ThingwireError } from '../../errors.ts'
import type { Operation } from '../../http/operation/operation.ts'
import { ofAdmin } from '../../http/operation/refusals.ts'
import { credentialOf } from '../../http/request/credential.ts'
import { createRegistry, type MetricSources } from './registry.ts'

export const readMetrics: Operation = {
  id: 'readMetrics',
  group: 'Service',
  summary: 'Read the metrics',
  description:
    'For Prometheus. A program on the same machine needs no admin key if it asks for `localhost` or a loopback address (`Host`), and through no proxy. With the option `publicMetrics` nobody needs it.',
  credential: 'admin',
  answers: {
    200: {
      description: 'Prometheus text format.',
      content: {
        'text/plain': {
          schema: z.string(),
          example: 'thingwire_limits_met_total{limit="write_rate_exceeded"} 0\n',
        },
      },
    },
  },
  refusals: ofAdmin,
}

/** Headers that proxies add. A request with one of them may come from another machine. */
const proxyHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-real-ip'] as const

/**
 * `GET /metrics` (contract §6): the metrics of docs/reference/metrics.md as Prometheus text. Needs the admin key, unless
 * `publicMetrics` is set, or the request comes from this machine without a proxy and its Host is a loopback name.
 */
export function metricsRoute(app: FastifyInstance, sources: MetricSources): void {
  const { access, limits } = sources.things
  const { publicMetrics } = sources.options
  // Created at the first request, since a registry watches the event loop and the garbage collector even if nobody reads it.
  let registry: Registry | undefined
  app.get('/metrics', { config: { operation: readMetrics } }, async (request, reply) => {
    if (!publicMetrics && !isLocal(request)) {
      await access.authoriseAdmin(credentialOf(request)).catch((error: unknown) => {
        throw error instanceof ThingwireError ? limits.countFailure(error, request.ip) : error
      })
    }
    registry ??= createRegistry(sources)
    return await reply.header('content-type', registry.contentType).send(await registry.metrics())
  })
}

/** Checks Host too: after DNS rebinding, a foreign page reaches loopback, but Host is then the host name of that page. */
function isLocal({ socket, headers }: FastifyRequest): boolean {
  if (proxyHeaders.some(name => headers[name] !== undefined)) return false
  return isLoopback(socket.remoteAddress ?? '') && isNameOfLoopback(headers.host)
}

/** @param host undefined if a simple client left Host out; browsers always send Host */
function isNameOfLoopback(host = 'localhost'): boolean {
  const name = host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1')
  return name.toLowerCase() === 'localhost' || isLoopback(name)
}
