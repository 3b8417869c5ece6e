import type { FastifyInstance } from 'fastify'
import { describeRefusedWrite } from '../core/refusals/refused-write.ts'
import { credentialOf } from './credential.ts'
import { listRefusedWrites } from './operations/things.ts'
import type { OfThing } from './paths.ts'
import { Query } from './query.ts'
import { replyJson } from './reply-json.ts'
import type { HttpThings } from './things.ts'

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
