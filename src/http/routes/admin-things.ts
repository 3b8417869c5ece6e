import type { FastifyInstance } from 'fastify'
import type { HttpThings } from '../http-things.ts'
import { replyJson } from '../reply/reply-json.ts'
import { thingPage } from '../reply/thing-page.ts'
import { Query } from '../request/query.ts'
import { jsonBodyOf } from '../request/request-body.ts'
import {
  createThing,
  createThingBody,
  listThings,
  removeThing,
  renameThing,
  renameThingBody,
} from './admin-things.operation.ts'

interface OfAdminThing {
  Params: { thingId: string }
}

/** `/v2/admin/things[/<id>]`. */
export function adminThingRoutes(scope: FastifyInstance, { registry }: HttpThings, bodyLimit: number): void {
  scope.post('/things', { config: { operation: createThing } }, async (request, reply) => {
    const { name } = jsonBodyOf(request, bodyLimit, createThingBody)
    const { thingId, thingToken } = await registry.create(name === undefined ? {} : { name })
    return replyJson(reply, 201, JSON.stringify({ status: 'created', thingId, thingToken }))
  })

  scope.get('/things', { config: { operation: listThings } }, async (request, reply) => {
    return replyJson(reply, 200, await thingPage(registry, new Query(request)))
  })

  scope.patch<OfAdminThing>(
    '/things/:thingId',
    { config: { operation: renameThing } },
    async (request, reply) => {
      const { name } = jsonBodyOf(request, bodyLimit, renameThingBody)
      await registry.rename(request.params.thingId, name)
      return replyJson(reply, 200, JSON.stringify({ status: 'success' }))
    },
  )

  scope.delete<OfAdminThing>(
    '/things/:thingId',
    { config: { operation: removeThing } },
    async (request, reply) => {
      await registry.remove(request.params.thingId)
      return replyJson(reply, 200, JSON.stringify({ status: 'success' }))
    },
  )
}
