import type { FastifyInstance } from 'fastify'
import { ThingwireError } from '../errors.ts'
import { checkHealth, checkReadiness } from './operations/service.ts'
import { replyJson } from './reply-json.ts'
import type { HttpThings } from './things.ts'

/** `/healthz`: the process is up. `/readyz`: writes can be taken. */
export function healthRoutes(scope: FastifyInstance, things: HttpThings, isDraining: () => boolean): void {
  scope.get('/healthz', { config: { operation: checkHealth } }, async (_request, reply) =>
    replyJson(reply, 200, JSON.stringify({ status: 'ok' })),
  )

  scope.get('/readyz', { config: { operation: checkReadiness } }, async (_request, reply) => {
    if (isDraining()) throw new ThingwireError('draining')
    if (!things.isReady()) throw new ThingwireError('store_unavailable')
    const clockBehind = things.clock.isBehind() ? { clock_behind: true } : {}
    return replyJson(reply, 200, JSON.stringify({ status: 'ready', ...clockBehind }))
  })
}
