import type { FastifyInstance } from 'fastify'
import { describeRefusedWrite } from '../../core/refusals/refused-write.ts'
import type { HttpThings } from '../http-things.ts'
import { replyJson } from '../reply/reply-json.ts'
import { credentialOf } from '../request/credential.ts'
import type { OfThing } from '../request/paths.ts'
import { Query } from '../request/query.ts'
import { listRefusedWrites } from './refused-writes.operation.ts'

/** Refused writes that are kept of a thing (contract §6). */
const kept = 100

/** `GET /v2/things/<ref>/errors`. */
export function refusedWritesRoute(scope: FastifyInstance, { access, refused }: HttpThings): void {
  scope.get<OfThing>(
    '/things/:ref/errors',
    { config: { operation: listRefusedWrites } },
    async (request, reply) => {
      const { ref } = request.params
      const thingId = await access.authorise(ref, credentialOf(request), 'read refused writes')
      const list = await refused.list(thingId, new Query(request).limit(kept, kept))
      return replyJson(reply, 200, JSON.stringify(list.map(describeRefusedWrite)))
    },
  )
}
