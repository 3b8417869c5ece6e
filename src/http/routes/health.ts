import type { FastifyInstance } from 'fastify'
import { behindFrom } from '../../core/time/clock.ts'
import { ThingwireError } from '../../errors.ts'
import type { HttpThings } from '../http-things.ts'
import { jsonRoute } from '../reply/json-route.ts'
import { replyRefusal } from '../reply/reply-error.ts'
import { replyJson } from '../reply/reply-json.ts'
import { checkHealth, checkReadiness } from './health.operation.ts'

/** `/healthz`: the process is up. `/readyz`: writes can be taken. */
export function healthRoutes(scope: FastifyInstance, things: HttpThings, isDraining: () => boolean): void {
  jsonRoute(scope, 'GET', '/healthz', checkHealth, async () => ({ status: 'ok' }))

  scope.get('/readyz', { config: { operation: checkReadiness } }, async (request, reply) => {
    const obstacle = isDraining() ? 'draining' : !things.isReady() && 'store_unavailable'
    // Asked for each second: what is wrong is told where it goes wrong.
    if (obstacle) return replyRefusal(new ThingwireError(obstacle), request, reply)
    const { clock } = things
    const ready = {
      status: 'ready',
      ...(clock.behind() >= behindFrom && { clock_behind: true }),
      ...(clock.steppedBack && { clock_stepped_back: true }),
    }
    return replyJson(reply, 200, JSON.stringify(ready))
  })
}
