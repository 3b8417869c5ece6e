import type { FastifyInstance } from 'fastify'
import type { HttpThings } from '../http-things.ts'
import { jsonRoute } from '../reply/json-route.ts'
import { thingPage } from '../reply/thing-page.ts'
import type { JsonBodies } from '../request/json-bodies.ts'
import { Query } from '../request/query.ts'
import {
  changeThing,
  changeThingBody,
  createThing,
  createThingBody,
  listThings,
  removeThing,
} from './admin-things.operation.ts'

interface OfAdminThing {
  Params: { thingId: string }
}

/** `/v2/admin/things[/<id>]`. */
export function adminThingRoutes(
  scope: FastifyInstance,
  { registry, costlyReads }: HttpThings,
  bodies: JsonBodies,
): void {
  jsonRoute(scope, 'POST', '/things', createThing, async request => {
    const { name = '', topics = [] } = bodies.read(request, createThingBody)
    const { thingId, thingToken } = await registry.create({ name, topics })
    return { status: 'created', thingId, thingToken }
  })

  jsonRoute(scope, 'GET', '/things', listThings, async request => {
    return await costlyReads.run('admin', () => thingPage(registry, new Query(request)))
  })

  jsonRoute<OfAdminThing>(scope, 'PATCH', '/things/:thingId', changeThing, async request => {
    const { name, topics } = bodies.read(request, changeThingBody)
    const { thingId } = request.params
    // First what may be refused.
    if (topics !== undefined) await registry.setTopics(thingId, topics)
    if (name !== undefined) await registry.rename(thingId, name)
    return { status: 'success' }
  })

  jsonRoute<OfAdminThing>(scope, 'DELETE', '/things/:thingId', removeThing, async ({ params }) => {
    await registry.remove(params.thingId)
    return { status: 'success' }
  })
}
