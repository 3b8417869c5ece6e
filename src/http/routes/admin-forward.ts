import type { FastifyInstance } from 'fastify'
import type { ForwardReport } from '../../core/forward-report.ts'
import { formatDatetime } from '../../core/record/datetime.ts'
import type { HttpThings } from '../http-things.ts'
import { replyJson } from '../reply/reply-json.ts'
import { Query } from '../request/query.ts'
import { readForward } from './admin-forward.operation.ts'

/** Refused records. */
const defaultRefused = 100

/** `GET /v2/admin/forward`. */
export function adminForwardRoute(scope: FastifyInstance, { forward, registry }: HttpThings): void {
  scope.get('/forward', { config: { operation: readForward } }, async (request, reply) => {
    const limit = new Query(request).limit(defaultRefused)
    if (!forward) return replyJson(reply, 200, JSON.stringify({ target: null }))
    const [report, unknownThings] = await Promise.all([
      forward.report(limit),
      registry.missing(forward.named),
    ])
    return replyJson(reply, 200, JSON.stringify({ ...describe(report), unknownThings }))
  })
}

function describe({ target, isConnected, problem, waiting, isCounted, oldest, ...report }: ForwardReport) {
  return {
    target,
    connected: isConnected,
    problem,
    mapProblem: report.mapProblem,
    waiting: {
      ...waiting,
      counted: isCounted,
      oldest: oldest === undefined ? undefined : formatDatetime(oldest),
    },
    forwarded: report.forwarded,
    refusedRecords: report.refusedCount,
    droppedRecords: report.dropped,
    held: report.held.map(({ thingId, why, since }) => ({ thingId, why, since: formatDatetime(since) })),
    refused: report.refused.map(({ datetime, at, ...refused }) => ({
      ...refused,
      datetime: formatDatetime(datetime),
      refusedAt: formatDatetime(at),
    })),
  }
}
