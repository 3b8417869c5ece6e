import type { FastifyInstance } from 'fastify'
import { credentialOf } from './credential.ts'
import type { OfThing } from './paths.ts'
import { Query } from './query.ts'
import { arrayText, recordText } from './record-text.ts'
import { replyStream } from './reply-stream.ts'
import type { HttpThings } from './things.ts'

const json = { 'content-type': 'application/json' }

/** `GET /v2/things/<ref>/resources` and `…/all_resources` [wild]. */
export function resourceRoutes(scope: FastifyInstance, { access, records }: HttpThings): void {
  scope.get<OfThing>('/things/:ref/resources', async (request, reply) => {
    const thingId = await access.authorise(request.params.ref, credentialOf(request), 'read')
    return await replyStream(request, reply, json, namesText(thingId))
  })

  scope.get<OfThing>('/things/:ref/all_resources', async (request, reply) => {
    const thingId = await access.authorise(request.params.ref, credentialOf(request), 'read')
    const limit = new Query(request).limit(1)
    return await replyStream(request, reply, json, newestText(thingId, limit))
  })

  async function* namesText(thingId: string): AsyncGenerator<string> {
    yield JSON.stringify({ resources: await listedKeys(thingId) })
  }

  async function* newestText(thingId: string, limit: number): AsyncGenerator<string> {
    let before = '['
    for (const key of await listedKeys(thingId)) {
      const page = await records.read(thingId, key, { order: 'desc', limit })
      if (!page) continue
      yield `${before}{"key":${JSON.stringify(key)},"values":${arrayText(page.records.map(recordText))}}`
      before = ','
    }
    yield before === '[' ? '[]' : ']'
  }

  /** A write to a settings path is a change of the one document `$settings`. */
  async function listedKeys(thingId: string): Promise<readonly string[]> {
    const keys = await records.resources(thingId)
    return [...new Set(keys.map(key => (key.startsWith('$settings.') ? '$settings' : key)))]
  }
}
