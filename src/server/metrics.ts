import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Counter, collectDefaultMetrics, Registry } from 'prom-client'
import { isLoopback } from '../access/address-key.ts'
import type { Limits } from '../access/limits.ts'
import { ThingwireError } from '../errors.ts'
import { credentialOf } from '../http/credential.ts'
import type { Things } from '../things.ts'

/** What proxies say of the client for which they ask: whoever is behind one is not this machine. */
const proxyHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-real-ip'] as const
const methods = ['GET', 'HEAD']

/**
 * `GET /metrics` (contract §6): how often each limit was met, and what the process uses, as Prometheus text. For the admin
 * key, and for programs on this machine that ask without a proxy. Nothing in it names a thing or a credential.
 */
export function metricsRoute(
  app: FastifyInstance,
  { access, limits }: Pick<Things, 'access' | 'limits'>,
): void {
  // Made when it is asked for first: it watches the event loop and the garbage collector from then on.
  let registry: Registry | undefined
  app.get('/metrics', async (request, reply) => {
    if (!isLocal(request)) {
      await access.authoriseAdmin(credentialOf(request)).catch((error: unknown) => {
        throw error instanceof ThingwireError ? limits.judge(error, request.ip) : error
      })
    }
    registry ??= createRegistry(limits)
    return await reply.header('content-type', registry.contentType).send(await registry.metrics())
  })
  const refuse = async (_request: FastifyRequest, reply: FastifyReply) => {
    reply.header('allow', methods.join(', '))
    throw new ThingwireError('method_not_allowed')
  }
  app.route({
    method: app.supportedMethods.filter(method => !methods.includes(method)),
    url: '/metrics',
    onRequest: refuse,
    handler: refuse,
  })
}

function isLocal({ socket, headers }: FastifyRequest): boolean {
  return isLoopback(socket.remoteAddress ?? '') && proxyHeaders.every(name => headers[name] === undefined)
}

function createRegistry(limits: Limits): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  new Counter({
    name: 'thingwire_limits_met_total',
    help: 'How often each limit was met: what was refused, dropped, closed or held up for it.',
    labelNames: ['limit'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [limit, times] of limits.met) this.inc({ limit }, times)
    },
  })
  return registry
}
