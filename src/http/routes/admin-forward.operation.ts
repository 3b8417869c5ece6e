import { z } from 'zod'
import { json, type Operation } from '../operation/operation.ts'
import { limit } from '../operation/parameters.ts'
import { ofAdmin } from '../operation/refusals.ts'
import { datetime, thingId } from '../operation/shapes.ts'

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
})

export const readForward: Operation = {
  id: 'readForward',
  group: 'Operator',
  summary: 'Read how far forwarding to the central server has come',
  description:
    '`waiting`: what the central server has not acknowledged; it grows while a backlog from before the start is counted (`counted` is false). `forwarded`: since the start. `held`: things that the central server does not take, whose records wait. `refused`: the newest records that it has refused for good, newest first. `unknownThings`: ids in the thing map that no thing of this server has. `mapProblem`: why a changed thing map is not used. `target` is null if the server forwards nothing.',
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
    }),
  },
  refusals: [...ofAdmin, 'invalid_limit'],
}
