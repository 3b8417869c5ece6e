import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { ThingwireError } from '../../errors.ts'
import type { HttpThings } from '../http-things.ts'
import { json, type Operation } from '../operation/operation.ts'
import { endDate, key, ref, startDate } from '../operation/parameters.ts'
import { ofThing } from '../operation/refusals.ts'
import { success } from '../operation/shapes.ts'
import { createReads } from '../reading/magic-states.ts'
import { jsonRoute } from '../reply/json-route.ts'
import { credentialOf } from '../request/credential.ts'
import { type OfResource, resourceKey } from '../request/paths.ts'
import { Query } from '../request/query.ts'

const deleteRecords: Operation = {
  id: 'deleteRecords',
  group: 'Resources',
  summary: 'Delete records of a resource',
  description:
    'Without a range all records are deleted, and the state of a magic resource. The request needs the admin key or a write ' +
    'session of the operator; with `allowThingDelete` the token of the thing is enough.',
  credential: 'thing',
  parameters: [ref, key, startDate, endDate],
  answers: {
    200: json('Number of deleted records.', z.object({ ...success.shape, deleted: z.int().min(0) }), {
      status: 'success',
      deleted: 12,
    }),
  },
  refusals: [...ofThing, 'invalid_range', 'unknown_resource'],
}

/** `DELETE /v2/things/<ref>/resources/<key>`. */
export function deleteRoute(scope: FastifyInstance, { access, records, magic }: HttpThings): void {
  const { history } = createReads(records, magic)

  jsonRoute<OfResource>(scope, 'DELETE', '/things/:ref/resources/:key', deleteRecords, async request => {
    const thingId = await access.authorise(request.params.ref, credentialOf(request), 'delete')
    const key = resourceKey(request.params)
    const range = new Query(request).range()
    const known = await history.read(thingId, key, { order: 'desc', limit: 1 })
    if (!known) throw new ThingwireError('unknown_resource')
    let deleted = 0
    for (const each of await keysOf(thingId, key)) deleted += await records.remove(thingId, each, range)
    const isAll = range.from === undefined && range.to === undefined
    // The state is removed after the records, so that a concurrent write never leaves a state without a record.
    if (isAll || (deleted > 0 && magic.isLatestRecord(key))) await magic.remove(thingId, key)
    return { status: 'success', deleted }
  })

  /** If `key` is the key of a state, all keys whose records change that state; otherwise only `key`. */
  async function keysOf(thingId: string, key: string): Promise<readonly string[]> {
    if (magic.stateKeyOf(key) !== key) return [key]
    return (await records.resources(thingId)).filter(each => magic.stateKeyOf(each) === key)
  }
}
