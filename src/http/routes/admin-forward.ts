import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { ThingRegistry } from '../../access/access.ts'
import { allPages } from '../../core/async/all-pages.ts'
import type { ForwardReport, ForwardReporter } from '../../core/forward-report.ts'
import { formatDatetime } from '../../core/record/datetime.ts'
import type { HttpThings } from '../http-things.ts'
import { json, type Operation } from '../operation/operation.ts'
import { limit } from '../operation/parameters.ts'
import { ofAdmin } from '../operation/refusals.ts'
import { datetime, thingId } from '../operation/shapes.ts'
import { replyJson } from '../reply/reply-json.ts'
import { Query } from '../request/query.ts'

const count = z.int().min(0)

const forwarding = z.object({
  target: z.string(),
  connected: z.boolean(),
  problem: z.string().optional(),
  mapProblem: z.string().optional(),
  waiting: z.object({ records: count, bytes: count, counted: z.boolean(), oldest: datetime.optional() }),
  forwarded: z.object({ records: count, bytes: count }),
  refusedRecords: count,
  droppedRecords: count,
  held: z.array(z.object({ thingId, why: z.string(), since: datetime })),
  refused: z.array(
    z.object({
      thingId,
      key: z.string(),
      datetime,
      reason: z.string(),
      message: z.string(),
      refusedAt: datetime,
    }),
  ),
  unknownThings: z.array(thingId),
  omittedThings: z.array(thingId),
  activated: z.array(z.object({ thingId, there: thingId })),
})

/** The answer to `GET /v2/admin/forward`. Servers of older versions omit the members behind `refused`. Times are RFC 3339. */
export type Forwarding = z.infer<typeof forwarding>
export type ForwardingAnswer = { readonly target: null } | Forwarding

const readForward: Operation = {
  id: 'readForward',
  group: 'Operator',
  summary: 'Read how far forwarding to the central server has come',
  description:
    '`waiting`: what the central server has not acknowledged; it grows while a backlog from before the start is counted (`counted` is false). `forwarded`: since the start. `held`: things that the central server does not accept, whose records wait. `refused`: the newest records that it has refused for good, newest first. `unknownThings`: ids in the thing map that no thing of this server has. `omittedThings`: the first 100 things of this server that the thing map does not have, so that they are not forwarded. `activated`: things that activation codes made at the central server, each with its id `there`. `mapProblem`: why a changed thing map is not used. `target` is null if the server forwards nothing.',
  credential: 'admin',
  parameters: [limit('refused records', 100, 1_000)],
  answers: {
    200: json('How far it has come.', z.union([forwarding, z.object({ target: z.null() })]), {
      target: 'mqtts://central.example',
      connected: true,
      waiting: { records: 0, bytes: 0, counted: true },
      forwarded: { records: 4711, bytes: 339192 },
      refusedRecords: 0,
      droppedRecords: 0,
      held: [],
      refused: [],
      unknownThings: [],
      omittedThings: [],
      activated: [],
    }),
  },
  refusals: [...ofAdmin, 'invalid_limit'],
}

/** Maximum number of refused records in the answer, if the query has no `limit`. */
const defaultRefused = 100
const maximumOmitted = 100

/** `GET /v2/admin/forward`. */
export function adminForwardRoute(scope: FastifyInstance, { forward, registry }: HttpThings): void {
  scope.get('/forward', { config: { operation: readForward } }, async (request, reply) => {
    const limit = new Query(request).limit(defaultRefused)
    if (!forward) return replyJson(reply, 200, JSON.stringify({ target: null }))
    const [report, unknownThings, omittedThings] = await Promise.all([
      forward.report(limit),
      registry.missing(forward.named),
      omittedBy(forward, registry),
    ])
    return replyJson(reply, 200, JSON.stringify({ ...describe(report), unknownThings, omittedThings }))
  })
}

/** The first 100 things that the thing map does not have. */
async function omittedBy(forward: ForwardReporter, registry: ThingRegistry): Promise<string[]> {
  const omitted: string[] = []
  const read = (cursor: object) => registry.list({ limit: 1_000, ...cursor })
  for await (const { thingId } of allPages(read, ({ things }) => things)) {
    if (forward.omits(thingId)) omitted.push(thingId)
    if (omitted.length === maximumOmitted) break
  }
  return omitted
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
    activated: [...report.activated].map(([thingId, there]) => ({ thingId, there })),
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
