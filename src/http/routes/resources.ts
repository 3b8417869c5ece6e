import type { FastifyInstance } from 'fastify'
import { arrayText, recordText } from '../../core/record/record-text.ts'
import type { HttpThings } from '../http-things.ts'
import { createReads } from '../reading/magic-states.ts'
import { readerOf } from '../reading/reader-of.ts'
import { replyStream } from '../reply/reply-stream.ts'
import { credentialOf } from '../request/credential.ts'
import type { OfThing } from '../request/paths.ts'
import { Query } from '../request/query.ts'
import { listResources, readAllResources } from './resources.operation.ts'

const json = { 'content-type': 'application/json' }

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
      return await replyStream(request, reply, json, text)
    },
  )

  scope.get<OfThing>(
    '/things/:ref/all_resources',
    { config: { operation: readAllResources } },
    async (request, reply) => {
      const thingId = await access.authorise(request.params.ref, credentialOf(request), 'read')
      const limit = new Query(request).limit(1)
      const text = costlyReads.stream(await readerOf(access, request, thingId), newestText(thingId, limit))
      return await replyStream(request, reply, json, text)
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

  /** What is kept under several keys of one state is one resource; a state can be all that is left of one. */
  async function listedKeys(thingId: string): Promise<readonly string[]> {
    const [keys, stateKeys] = await Promise.all([records.resources(thingId), magic.stateKeys(thingId)])
    const names = keys.map(key => magic.stateKeyOf(key) ?? key)
    return [...new Set([...names, ...stateKeys])].sort()
  }
}
