import { describe, expect, it } from 'vitest'
import { asAdmin, type Host, type Injected, openHost, reasonOf } from './host.ts'

const unknown = 'x'.repeat(43)
const limits = { failedCredentialsPerMinute: 3 }

type Request = readonly [
  method: 'GET' | 'HEAD' | 'POST' | 'DELETE',
  path: string,
  headers: Readonly<Record<string, string>>,
  body: object | undefined,
]

/** Every way to present a credential that is not valid. */
const failing: readonly [Request, ...Request[]] = [
  ['POST', `/v2/things/${unknown}`, {}, undefined],
  ['GET', `/v2/things/${unknown}/resources`, {}, undefined],
  ['GET', '/v2/things/<id>/resources/k', { authorization: `Bearer ${unknown}` }, undefined],
  ['DELETE', '/v2/things/<id>/resources/k', { authorization: unknown }, undefined],
  ['GET', '/v2/things/<id>/errors', { authorization: 'guess' }, undefined],
  ['GET', `/v2/things/<id>?session=${unknown}`, {}, undefined],
  ['HEAD', `/v2/things/<id>?session=${unknown}`, {}, undefined],
  ['POST', '/v2/things/<id>/sessions', { authorization: unknown }, { access: 'read' }],
  ['GET', `/v2/utils/date?thingToken=${unknown}`, {}, undefined],
  ['POST', '/v2/things', {}, { activationCode: 'x'.repeat(34) }],
  ['GET', '/v2/principal', { authorization: unknown }, undefined],
  ['GET', '/v2/things', { authorization: 'guess' }, undefined],
  ['GET', '/v2/admin/things', { authorization: 'Bearer guess' }, undefined],
  ['POST', '/v2/admin/backup', { authorization: unknown }, undefined],
]

async function send(host: Host, [method, path, headers, body]: Request, from = '127.0.0.1') {
  const url = path.replace('<id>', host.thingId)
  return await host.inject({
    method,
    url,
    headers,
    remoteAddress: from,
    ...(body === undefined ? {} : { body }),
  })
}

function isRefused(answer: Injected): boolean {
  if (answer.statusCode !== 429) return false
  expect(answer.headers['retry-after']).toBe('60')
  return true
}

describe('the limit on failed credentials', () => {
  it.each(failing)('counts %s %s', async (...request) => {
    const host = await openHost({ limits })
    const answers = []
    for (let count = 0; count < 5; count++) answers.push(await send(host, request))
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([401, 401, 401, 429, 429])
    const [, , , first] = answers
    expect(first && isRefused(first)).toBe(true)
    if (request[0] !== 'HEAD' && first) {
      expect(reasonOf(first)).toBe('too_many_failed_credentials')
      const cause = answers[0]?.json() as { reason: string; message: string }
      expect((first.json() as { message: string }).message).toBe(
        `${cause.reason}: ${cause.message.replace(/\.$/, '')}; the address has sent too many invalid credentials, which are refused for another 60 s; a valid one is accepted at once`,
      )
    }
    expect(host.things.limits.met.get('too_many_failed_credentials')).toBe(2)
  })

  it('counts what comes by different ways together, and each address for itself', async () => {
    const host = await openHost({ limits })
    const statuses = []
    for (const request of failing) statuses.push((await send(host, request)).statusCode)
    expect(statuses).toEqual([401, 401, 401, ...Array(failing.length - 3).fill(429)])
    expect((await send(host, failing[0], '192.0.2.1')).statusCode).toBe(401)
  })

  it('never refuses a valid credential, nor what is not about one', async () => {
    const host = await openHost({ limits })
    const { inject, thingId, thingToken, things } = host
    const [code] = await things.activationCodes.create({ count: 1, uses: 1 })
    const { sessionToken } = await things.sessions.create('*', { access: 'read' })
    for (const request of failing) await send(host, request)
    await host.write({ key: 'k', value: 1 })
    for (const authorization of [sessionToken, thingToken, asAdmin.authorization]) {
      const url = `/v2/things/${thingId}/resources/k`
      expect((await inject({ url, headers: { authorization } })).statusCode).toBe(200)
    }
    expect((await inject({ url: '/v2/admin/things', headers: asAdmin })).statusCode).toBe(200)
    const body = { activationCode: code }
    expect((await inject({ method: 'POST', url: '/v2/things', body })).statusCode).toBe(201)
    expect(reasonOf(await inject({ url: `/v2/things/${thingId}/resources` }))).toBe('missing_credential')
    const forbidden = await inject({ url: '/v2/admin/things', headers: { authorization: sessionToken } })
    expect(reasonOf(forbidden)).toBe('forbidden')
    expect(reasonOf(await inject({ url: '/v2/' }))).toBe('invalid_session')
  })

  it('does not count valid credentials that are not allowed, missing ones, or GET /v2/', async () => {
    const host = await openHost({ limits })
    const { inject, thingId, thingToken } = host
    for (let count = 0; count < 5; count++) {
      expect((await inject({ url: '/v2/' })).json()).toMatchObject({
        code: 401,
        message: 'Invalid session token',
      })
      expect((await inject({ url: `/v2/things/${thingId}/resources` })).statusCode).toBe(401)
      const headers = { authorization: thingToken }
      expect((await inject({ url: '/v2/admin/things', headers })).statusCode).toBe(403)
      expect((await inject({ url: '/v2/unknown', headers: { authorization: unknown } })).statusCode).toBe(404)
    }
    expect((await send(host, failing[0])).statusCode).toBe(401)
  })
})
