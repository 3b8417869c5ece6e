import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { SourceSummary } from '../../access/access.ts'
import { formatDatetime } from '../../core/record/datetime.ts'
import { describeRefusedWrite, keptRefusals } from '../../core/refusals/refused-write.ts'
import type { HttpThings } from '../http-things.ts'
import { json, type Operation } from '../operation/operation.ts'
import { limit, pathParameter } from '../operation/parameters.ts'
import { ofAdmin, ofBody } from '../operation/refusals.ts'
import { datetime, refusedWrite, success, thingId, thingToken } from '../operation/shapes.ts'
import { jsonRoute } from '../reply/json-route.ts'
import type { JsonBodies } from '../request/json-bodies.ts'
import { Query } from '../request/query.ts'

const texts = z.array(z.string('must be a string'), 'must be an array of strings')
const terms = {
  formats: texts,
  pattern: z.string('must be a string').exactOptional(),
  topics: texts,
  things: z.enum(['create', 'known'], 'must be "create" or "known"'),
}
const name = z
  .string('must be a string')
  .min(1, 'must not be empty')
  .max(200, 'must be at most 200 characters')
const createSourceBody = z.strictObject(
  {
    ...{ name, pattern: terms.pattern },
    formats: texts.exactOptional(),
    topics: texts.exactOptional(),
    things: terms.things.exactOptional(),
    overlap: z.boolean('must be true or false').exactOptional(),
  },
  'the body must be a JSON object {"name","formats"?,"pattern"?,"topics"?,"things"?,"overlap"?}',
)
const changeSourceBody = createSourceBody.extend({ name: name.exactOptional() })

const source = z.object({
  sourceId: thingId,
  name: z.string(),
  ...terms,
  createdAt: datetime,
})

const sourceIdExample = 'mzxw6ytboi4dcmjs'
const tokenExample = 'c29tZXRoaW5nLXRoYXQtaXMtbm8tcmVhbC10b2tlbi4'
const sourceExample = {
  sourceId: sourceIdExample,
  name: 'house',
  formats: ['tasmota', 'zigbee2mqtt', 'shelly', 'homeassistant'],
  topics: ['#'],
  things: 'create',
  createdAt: '2026-11-21T09:30:00.000Z',
}
const sourceId = pathParameter('sourceId', 'The source.', sourceIdExample)
const done = json('Done.', success, { status: 'success' })

const createSource: Operation = {
  id: 'createSource',
  group: 'Operator',
  summary: 'Create a source, a credential for many devices',
  description:
    'Messages on its topics are relayed, and read by the first of its `formats` that knows the topic; each device gets a thing of its ' +
    'own. `formats`: default tasmota, zigbee2mqtt, shelly, homeassistant. `pattern`: of the format levels, such as ' +
    '`garden/{device}/{key}`. `topics`: default `#`, all but those of things. `things`: `known` makes no things. `overlap`: whether ' +
    'the topics may overlap those of another source.',
  credential: 'admin',
  body: { schema: createSourceBody, example: { name: 'house', topics: ['house/#'] } },
  answers: {
    201: json(
      'The token is shown only once.',
      z.object({ status: z.literal('created'), sourceId: thingId, sourceToken: thingToken }),
      { status: 'created', sourceId: sourceIdExample, sourceToken: tokenExample },
    ),
  },
  refusals: [...ofAdmin, ...ofBody, 'topics_overlap', 'too_many_sources'],
}

const listSources: Operation = {
  id: 'listSources',
  group: 'Operator',
  summary: 'List all sources',
  credential: 'admin',
  answers: {
    200: json('All sources, by id.', z.object({ sources: z.array(source) }), { sources: [sourceExample] }),
  },
  refusals: ofAdmin,
}

const readSource: Operation = {
  id: 'readSource',
  group: 'Operator',
  summary: 'Read a source',
  credential: 'admin',
  parameters: [sourceId],
  answers: { 200: json('The source.', source, sourceExample) },
  refusals: [...ofAdmin, 'not_found'],
}

const changeSource: Operation = {
  id: 'changeSource',
  group: 'Operator',
  summary: 'Change a source',
  description:
    'Members that are absent stay as they are; `formats` replaces the `pattern`, too. Connections of the source are closed, and may come ' +
    'again.',
  credential: 'admin',
  parameters: [sourceId],
  body: { schema: changeSourceBody, example: { name: 'house' } },
  answers: { 200: done },
  refusals: [...ofAdmin, ...ofBody, 'not_found', 'topics_overlap'],
}

const renewSourceToken: Operation = {
  id: 'renewSourceToken',
  group: 'Operator',
  summary: 'Give a source a new token',
  description:
    'The token before ends at once, and so do the connections that used it. Its things, sessions and topics stay.',
  credential: 'admin',
  parameters: [sourceId],
  answers: {
    201: json(
      'The token is shown only once.',
      z.object({ status: z.literal('created'), sourceToken: thingToken }),
      { status: 'created', sourceToken: tokenExample },
    ),
  },
  refusals: [...ofAdmin, 'not_found'],
}

const removeSource: Operation = {
  id: 'removeSource',
  group: 'Operator',
  summary: 'Remove a source',
  description: 'Its token and connections end at once. Its things and their records stay.',
  credential: 'admin',
  parameters: [sourceId],
  answers: { 200: done },
  refusals: [...ofAdmin, 'not_found'],
}

const listUnread: Operation = {
  id: 'listUnread',
  group: 'Operator',
  summary: 'List what could not be read or stored',
  description:
    'The last 100 causes, newest first: messages that a format cannot read, records that were refused, connections that were turned away.',
  credential: 'admin',
  parameters: [sourceId, limit('causes', keptRefusals, keptRefusals)],
  answers: {
    200: json('Causes.', z.array(refusedWrite), [
      {
        datetime: '2026-11-21T09:30:00.000Z',
        door: 'mqtt',
        reason: 'unread_message',
        message: 'tele/plug/SENSOR: must be a JSON object, but it is a text',
        excerpt: '',
      },
    ]),
  },
  refusals: [...ofAdmin, 'not_found', 'invalid_limit'],
}

interface OfSource {
  Params: { sourceId: string }
}

/** `/v2/admin/sources[/<sourceId>[/errors|/token]]`. */
export function adminSourceRoutes(
  scope: FastifyInstance,
  { sources, refused, costlyReads }: HttpThings,
  bodies: JsonBodies,
): void {
  jsonRoute(scope, 'POST', '/sources', createSource, async request => {
    const { sourceId, sourceToken } = await sources.create(bodies.read(request, createSourceBody))
    return { status: 'created', sourceId, sourceToken }
  })

  jsonRoute(scope, 'GET', '/sources', listSources, async () => {
    return { sources: (await sources.list()).map(describe) }
  })

  jsonRoute<OfSource>(scope, 'GET', '/sources/:sourceId', readSource, async ({ params }) => {
    return describe(await sources.get(params.sourceId))
  })

  jsonRoute<OfSource>(scope, 'PATCH', '/sources/:sourceId', changeSource, async request => {
    await sources.change(request.params.sourceId, bodies.read(request, changeSourceBody))
    return { status: 'success' }
  })

  jsonRoute<OfSource>(scope, 'POST', '/sources/:sourceId/token', renewSourceToken, async ({ params }) => {
    return { status: 'created', sourceToken: (await sources.renewToken(params.sourceId)).sourceToken }
  })

  jsonRoute<OfSource>(scope, 'DELETE', '/sources/:sourceId', removeSource, async ({ params }) => {
    await sources.remove(params.sourceId)
    return { status: 'success' }
  })

  jsonRoute<OfSource>(scope, 'GET', '/sources/:sourceId/errors', listUnread, async request => {
    const limit = new Query(request).limit(keptRefusals, keptRefusals)
    const { sourceId } = await sources.get(request.params.sourceId)
    return (await costlyReads.run('admin', () => refused.list(sourceId, limit))).map(describeRefusedWrite)
  })
}

function describe({ createdAt, ...source }: SourceSummary): object {
  return { ...source, createdAt: formatDatetime(createdAt) }
}
