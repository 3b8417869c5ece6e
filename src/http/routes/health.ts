import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { behindFrom } from '../../core/time/clock.ts'
import { ThingwireError } from '../../errors.ts'
import type { HttpThings } from '../http-things.ts'
import { json, type Operation } from '../operation/operation.ts'
import { jsonRoute } from '../reply/json-route.ts'
import { replyRefusal } from '../reply/reply-error.ts'
import { replyJson } from '../reply/reply-json.ts'

const checkHealth: Operation = {
  id: 'checkHealth',
  group: 'Service',
  summary: 'Ask whether the process is up',
  credential: 'none',
  answers: { 200: json('The process is up.', z.object({ status: z.literal('ok') }), { status: 'ok' }) },
  refusals: [],
}

const checkReadiness: Operation = {
  id: 'checkReadiness',
  group: 'Service',
  summary: 'Ask whether the server accepts writes',
  credential: 'none',
  answers: {
    200: json(
      'The server accepts writes. `clock_behind` means that its clock is 60 s or more behind the newest receipt time, `clock_stepped_back` that receipt times have gone back since the start, because a clock far behind them was believed.',
      z.object({
        status: z.literal('ready'),
        clock_behind: z.literal(true).optional(),
        clock_stepped_back: z.literal(true).optional(),
      }),
      { status: 'ready' },
    ),
  },
  refusals: ['draining', 'store_unavailable'],
}

/** `/healthz`: whether the process runs. `/readyz`: whether it accepts writes. */
export function healthRoutes(scope: FastifyInstance, things: HttpThings, isDraining: () => boolean): void {
  jsonRoute(scope, 'GET', '/healthz', checkHealth, async () => ({ status: 'ok' }))

  scope.get('/readyz', { config: { operation: checkReadiness } }, async (request, reply) => {
    const obstacle = isDraining() ? 'draining' : !things.isReady() && 'store_unavailable'
    // Not logged, because probes may arrive every second, and the cause is logged elsewhere.
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
