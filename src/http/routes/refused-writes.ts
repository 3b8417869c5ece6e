import type { FastifyInstance } from 'fastify'
import { describeRefusedWrite, keptRefusals } from '../../core/refusals/refused-write.ts'
import type { HttpThings } from '../http-things.ts'
import { readerOf } from '../reading/reader-of.ts'
import { jsonRoute } from '../reply/json-route.ts'
import { credentialOf } from '../request/credential.ts'
import type { OfThing } from '../request/paths.ts'
import { Query } from '../request/query.ts'
import { listRefusedWrites } from './refused-writes.operation.ts'

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
