import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { arrayText, recordText } from '../../core/record/record-text.ts'
import type { HttpThings } from '../http-things.ts'
import { json, type Operation } from '../operation/operation.ts'
import { limit, ref } from '../operation/parameters.ts'
import { ofThing } from '../operation/refusals.ts'
import { givenRecord } from '../operation/shapes.ts'
import { createReads } from '../reading/magic-states.ts'
import { readerOf } from '../reading/reader-of.ts'
import { replyStream } from '../reply/reply-stream.ts'
import { credentialOf } from '../request/credential.ts'
import type { OfThing } from '../request/paths.ts'
import { Query } from '../request/query.ts'

export const listResources: Operation = {
  id: 'listResources',
  group: 'Resources',
  summary: 'List the resources of a thing',
  credential: 'thing',
  parameters: [ref],
  answers: {
    200: json('Their keys.', z.object({ resources: z.array(z.string()) }), {
      resources: ['$geo', 'temperature'],
    }),
  },
  refusals: ofThing,
}

const readAllResources: Operation = {
  id: 'readAllResources',
  group: 'Resources',
  summary: 'Read the newest records of every resource of a thing',
  credential: 'thing',
  parameters: [ref, limit('records of each resource', 1, 1000)],
  answers: {
    200: json(
      'All resources, each with its newest records, newest first.',
      z.array(z.object({ key: z.string(), values: z.array(givenRecord) })),
      [
        {
          key: 'temperature',
          values: [{ key: 'temperature', value: 21.5, datetime: '2026-11-21T09:30:00.000Z' }],
        },
      ],
    ),
  },
  refusals: [...ofThing, 'invalid_limit'],
}

const asJson = { 'content-type': 'application/json' }

/** `GET /v2/things/<ref>/resources` and `…/all_resources` [field]. */
export function resourceRoutes(
  scope: FastifyInstance,
  { access, records, magic, costlyReads }: HttpThings,
): void {
  const { page: readPage } = createReads(records, magic)

  scope.get<OfThing>(
    '/things/:ref/resources',
    { config: { operation: listResources } },
    async (request, reply) => {
      const thingId = await access.authorise(request.params.ref, credentialOf(request), 'read')
      const text = costlyReads.stream(await readerOf(access, request, thingId), namesText(thingId))
      return await replyStream(request, reply, asJson, text)
    },
  )

  scope.get<OfThing>(
    '/things/:ref/all_resources',
    { config: { operation: readAllResources } },
    async (request, reply) => {
      const thingId = await access.authorise(request.params.ref, credentialOf(request), 'read')
      const limit = new Query(request).limit(1)
      const text = costlyReads.stream(await readerOf(access, request, thingId), newestText(thingId, limit))
      return await replyStream(request, reply, asJson, text)
    },
  )

  async function* namesText(thingId: string): AsyncGenerator<string> {
    yield JSON.stringify({ resources: await listedKeys(thingId) })
  }

  async function* newestText(thingId: string, limit: number): AsyncGenerator<string> {
    let before = '['
    for (const key of await listedKeys(thingId)) {
      const page = await readPage(thingId, key, { order: 'desc', limit })
      if (!page) continue
      yield `${before}{"key":${JSON.stringify(key)},"values":${arrayText(page.records.map(recordText))}}`
      before = ','
    }
    yield before === '[' ? '[]' : ']'
  }

  /** Keys that share a state are listed as one resource. A state is listed even if it has no records. */
  async function listedKeys(thingId: string): Promise<readonly string[]> {
    const [keys, stateKeys] = await Promise.all([records.resources(thingId), magic.stateKeys(thingId)])
    const names = keys.map(key => magic.stateKeyOf(key) ?? key)
    return [...new Set([...names, ...stateKeys])].sort()
  }
}
