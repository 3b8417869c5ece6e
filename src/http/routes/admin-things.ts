import type { FastifyInstance } from 'fastify'
import type { HttpThings } from '../http-things.ts'
import { jsonRoute } from '../reply/json-route.ts'
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
  jsonRoute(scope, 'POST', '/things', createThing, async request => {
    const { name } = jsonBodyOf(request, bodyLimit, createThingBody)
    const { thingId, thingToken } = await registry.create(name === undefined ? {} : { name })
    return { status: 'created', thingId, thingToken }
  })

  jsonRoute(scope, 'GET', '/things', listThings, async request => {
    return await thingPage(registry, new Query(request))
  })

  jsonRoute<OfAdminThing>(scope, 'PATCH', '/things/:thingId', renameThing, async request => {
    const { name } = jsonBodyOf(request, bodyLimit, renameThingBody)
    await registry.rename(request.params.thingId, name)
    return { status: 'success' }
  })

  jsonRoute<OfAdminThing>(scope, 'DELETE', '/things/:thingId', removeThing, async ({ params }) => {
    await registry.remove(params.thingId)
    return { status: 'success' }
  })
}
