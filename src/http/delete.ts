import type { FastifyInstance } from 'fastify'
import { ThingwireError } from '../errors.ts'
import { credentialOf } from './credential.ts'
import { type OfResource, resourceKey } from './paths.ts'
import { Query } from './query.ts'
import { replyJson } from './reply-json.ts'
import type { HttpThings } from './things.ts'

/** `DELETE /v2/things/<ref>/resources/<key>`. */
export function deleteRoute(scope: FastifyInstance, { access, records }: HttpThings): void {
  scope.delete<OfResource>('/things/:ref/resources/:key', async (request, reply) => {
    const thingId = await access.authorise(request.params.ref, credentialOf(request), 'delete')
    const key = resourceKey(request.params)
    const range = new Query(request).range()
    const known = await records.read(thingId, key, { order: 'desc', limit: 1 })
    if (!known) throw new ThingwireError('unknown_resource')
    const deleted = await records.remove(thingId, key, range)
    return replyJson(reply, 200, JSON.stringify({ status: 'success', deleted }))
  })
}
