import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { HttpThings } from '../http-things.ts'
import { json, type Operation } from '../operation/operation.ts'
import { thingIdParameter } from '../operation/parameters.ts'
import { ofAdmin, ofBody } from '../operation/refusals.ts'
import { success, thingId, thingToken } from '../operation/shapes.ts'
import { thingPageAnswer, thingPageParameters } from '../operation/thing-page.ts'
import { topicGrants } from '../operation/topics.ts'
import { jsonRoute } from '../reply/json-route.ts'
import { thingPage } from '../reply/thing-page.ts'
import type { JsonBodies } from '../request/json-bodies.ts'
import { Query } from '../request/query.ts'

const thingName = z.string('must be a string').max(200, 'must be at most 200 characters')
const object = 'the body must be a JSON object'
const createThingBody = z.strictObject({ name: thingName.optional(), topics: topicGrants.optional() }, object)
const deviceOfSource = z.strictObject(
  {
    sourceId: z.string('must be a string'),
    device: z
      .string('must be a string')
      .min(1, 'must not be empty')
      .max(200, 'must be at most 200 characters'),
  },
  'must be an object {"sourceId","device"}',
)
const changeThingBody = createThingBody
  .extend({ source: deviceOfSource.optional() })
  .refine(
    ({ name, topics, source }) => name !== undefined || topics !== undefined || source !== undefined,
    'the body must have name, topics or source',
  )
  .refine(
    ({ topics, source }) => topics === undefined || source === undefined,
    'topics and source must be set by two requests, since either may be refused',
  )

const done = json('Done.', success, { status: 'success' })

export const createThing: Operation = {
  id: 'createThing',
  group: 'Operator',
  summary: 'Create a thing',
  description:
    '`topics`: which topics besides those of things it may use, within the option `topics` of the server or the topics of a source. `read` allows to ' +
    'subscribe, `write` to publish.',
  credential: 'admin',
  body: { schema: createThingBody, example: { name: 'boat' }, optional: true },
  answers: {
    201: json(
      'The token is shown only once.',
      z.object({ status: z.literal('created'), thingId, thingToken }),
      {
        status: 'created',
        thingId: 'mzxw6ytboi4dcmjs',
        thingToken: 'c29tZXRoaW5nLXRoYXQtaXMtbm8tcmVhbC10b2tlbi4',
      },
    ),
  },
  refusals: [...ofAdmin, ...ofBody],
}

export const listThings: Operation = {
  id: 'listThings',
  group: 'Operator',
  summary: 'List all things',
  credential: 'admin',
  parameters: thingPageParameters,
  answers: { 200: thingPageAnswer },
  refusals: [...ofAdmin, 'invalid_query', 'invalid_limit', 'invalid_cursor'],
}

const changeThing: Operation = {
  id: 'changeThing',
  group: 'Operator',
  summary: 'Rename a thing, give it topics, or attach a device',
  description:
    '`topics` replaces those that the thing has; an empty list removes all. A connection of the thing that had more is closed. ' +
    '`source` attaches a device of a source to the thing, in the place of what either had before; the source then writes to it.',
  credential: 'admin',
  parameters: [thingIdParameter],
  body: { schema: changeThingBody, example: { name: 'boat 7' } },
  answers: { 200: done },
  refusals: [...ofAdmin, ...ofBody, 'unknown_thing', 'not_found'],
}

export const removeThing: Operation = {
  id: 'removeThing',
  group: 'Operator',
  summary: 'Remove a thing',
  description: 'The tokens and connections of the thing end at once. Its data is removed in the background.',
  credential: 'admin',
  parameters: [thingIdParameter],
  answers: { 200: done },
  refusals: [...ofAdmin, 'unknown_thing'],
}

interface OfAdminThing {
  Params: { thingId: string }
}

/** `/v2/admin/things[/<id>]`. */
export function adminThingRoutes(
  scope: FastifyInstance,
  { registry, sourceThings, costlyReads }: HttpThings,
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
    const { name, topics, source } = bodies.read(request, changeThingBody)
    const { thingId } = request.params
    // The name last: if the topics or the source are refused, it must not change either.
    if (topics !== undefined) await registry.setTopics(thingId, topics)
    if (source !== undefined) await sourceThings.attach(thingId, source.sourceId, source.device)
    if (name !== undefined) await registry.rename(thingId, name)
    return { status: 'success' }
  })

  jsonRoute<OfAdminThing>(scope, 'DELETE', '/things/:thingId', removeThing, async ({ params }) => {
    await registry.remove(params.thingId)
    return { status: 'success' }
  })
}
