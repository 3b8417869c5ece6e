import { describe, expect, it } from 'vitest'
import { ask, createThing, write } from '../helpers/http-client.ts'
import { serverOfTest } from '../helpers/of-test.ts'

type Request = readonly [method: string, path: string, body?: object]

describe('a successful answer under /v2', () => {
  it('is kept out of caches, unless it is the ack of a write', async () => {
    const server = await serverOfTest()
    const { thingId, thingToken } = await createThing(server)
    const acked = await write(server, { thingId, thingToken }, { values: [{ key: 'n', value: 1 }] })
    expect([acked.status, acked.headers.get('cache-control')]).toEqual([201, null])
    const { activationCodes } = await ask<{ activationCodes: string[] }>(
      server,
      'POST',
      '/v2/admin/activation-codes',
      { count: 2 },
    )
    const [code, unused] = activationCodes
    const { tokenId } = await ask(server, 'POST', `/v2/admin/things/${thingId}/tokens`)
    const session = await ask(server, 'POST', `/v2/things/${thingToken}/sessions`, { access: 'read' })
    const terms = { name: 'posts', formats: ['ttn'] }
    const source = await ask(server, 'POST', '/v2/admin/sources', terms)
    const uplink = { end_device_ids: { device_id: 'a' }, uplink_message: { decoded_payload: { n: 1 } } }
    const ofThing = `/v2/things/${thingToken}`
    const asked: Request[] = [
      ['GET', `${ofThing}/resources/n`],
      ['HEAD', `${ofThing}/resources/n`],
      ['GET', `${ofThing}/resources/n?aggregate=avg&interval=1h`],
      ['GET', `${ofThing}/aggregates?keys=n&points=10`],
      ['GET', `${ofThing}/resources`],
      ['GET', `${ofThing}/all_resources`],
      ['GET', `${ofThing}/errors`],
      ['GET', ofThing],
      ['GET', `/v2/things/${thingId}?session=${session.sessionToken}`],
      ['POST', `${ofThing}/sessions`, { access: 'write' }],
      ['POST', `${ofThing}/write/json`, { n: 2 }],
      ['POST', `/v2/sources/${source.sourceToken}`, uplink],
      ['GET', `/v2/utils/date?thingToken=${thingToken}`],
      ['GET', '/v2/principal'],
      ['GET', '/v2/things'],
      ['POST', '/v2/things', { activationCode: code }],
      ['POST', '/v2/admin/things', {}],
      ['GET', '/v2/admin/things'],
      ['PATCH', `/v2/admin/things/${thingId}`, { name: 'x' }],
      ['POST', `/v2/admin/things/${thingId}/tokens`],
      ['GET', `/v2/admin/things/${thingId}/tokens`],
      ['DELETE', `/v2/admin/things/${thingId}/tokens/${tokenId}`],
      ['POST', '/v2/admin/activation-codes', {}],
      ['GET', '/v2/admin/activation-codes'],
      ['DELETE', `/v2/admin/activation-codes/${unused}`],
      ['POST', '/v2/admin/sessions', { things: '*', access: 'read' }],
      ['GET', '/v2/admin/sessions'],
      ['GET', `/v2/admin/sessions/${session.sessionId}`],
      ['DELETE', `/v2/admin/sessions/${session.sessionId}`],
      ['POST', '/v2/admin/sources', terms],
      ['GET', '/v2/admin/sources'],
      ['GET', `/v2/admin/sources/${source.sourceId}`],
      ['GET', `/v2/admin/sources/${source.sourceId}/errors`],
      ['PATCH', `/v2/admin/sources/${source.sourceId}`, { name: 'x' }],
      ['POST', `/v2/admin/sources/${source.sourceId}/token`],
      ['DELETE', `/v2/admin/sources/${source.sourceId}`],
      ['GET', '/v2/admin/forward'],
      ['POST', '/v2/admin/backup'],
      ['DELETE', `/v2/things/${thingId}/resources/n`],
      ['DELETE', `/v2/admin/things/${thingId}`],
    ]
    const answers: unknown[] = []
    for (const [method, path, body] of asked) {
      const response = await fetch(`${server.url}${path}`, {
        method,
        headers: { authorization: server.adminKey },
        ...(body && { body: JSON.stringify(body) }),
      })
      await response.body?.cancel()
      answers.push([method, path, response.ok, response.headers.get('cache-control')])
    }
    expect(answers).toEqual(asked.map(([method, path]) => [method, path, true, 'no-store']))
    const ids = [thingId, thingToken, `${tokenId}`, `${source.sourceId}`, 'json']
    expect(await described(server.url)).toEqual(operationsIn(asked, ids))
  })
})

/** Every operation under /v2 that succeeds, less the write. */
async function described(url: string): Promise<ReadonlySet<string>> {
  const { paths } = (await (await fetch(`${url}/docs/json`)).json()) as { paths: Record<string, object> }
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path.replaceAll(/\{[^}]*\}/g, '*')}`),
  )
  return new Set(all.filter(name => name.includes(' /v2/') && !except.has(name)).sort())
}

const except: ReadonlySet<string> = new Set(['POST /v2/things/*', 'GET /v2/'])

function operationsIn(asked: readonly Request[], ids: readonly string[]): ReadonlySet<string> {
  const parameters = new Set([...ids, 'n'])
  const names = asked.flatMap(([method, path]) => {
    const [plain = ''] = path.split('?', 1)
    const parts = plain.split('/').map(part => (parameters.has(part) || part.length > 17 ? '*' : part))
    return method === 'HEAD' ? [] : [`${method} ${parts.join('/')}`]
  })
  return new Set(names.sort())
}
