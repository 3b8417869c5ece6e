import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { describeRefusedWrite, keptRefusals } from '../../core/refusals/refused-write.ts'
import type { HttpThings } from '../http-things.ts'
import { json, type Operation } from '../operation/operation.ts'
import { limit, ref } from '../operation/parameters.ts'
import { ofThing } from '../operation/refusals.ts'
import { refusedWrite, refusedWriteExample } from '../operation/shapes.ts'
import { readerOf } from '../reading/reader-of.ts'
import { jsonRoute } from '../reply/json-route.ts'
import { credentialOf } from '../request/credential.ts'
import type { OfThing } from '../request/paths.ts'
import { Query } from '../request/query.ts'

const listRefusedWrites: Operation = {
  id: 'listRefusedWrites',
  group: 'Things',
  summary: 'List the refused writes of a thing',
  description:
    'The last 100 refused writes over HTTP and MQTT, newest first. Read sessions may not read them.',
  credential: 'thing',
  parameters: [ref, limit('refused writes', 100, 100)],
  answers: { 200: json('Refused writes.', z.array(refusedWrite), [refusedWriteExample]) },
  refusals: [...ofThing, 'invalid_limit'],
}

/** `GET /v2/things/<ref>/errors`. */
export function refusedWritesRoute(
  scope: FastifyInstance,
  { access, refused, costlyReads }: HttpThings,
): void {
  jsonRoute<OfThing>(scope, 'GET', '/things/:ref/errors', listRefusedWrites, async request => {
    const thingId = await access.authorise(request.params.ref, credentialOf(request), 'read refused writes')
    const limit = new Query(request).limit(keptRefusals, keptRefusals)
    const reader = await readerOf(access, request, thingId)
    return (await costlyReads.run(reader, () => refused.list(thingId, limit))).map(describeRefusedWrite)
  })
}
