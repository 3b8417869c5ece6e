import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { asAdmin, openHost, reasonOf } from './host.ts'

describe('an unknown path', () => {
  it.each(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH'] as const)('answers %s with 404', async method => {
    const { inject, thingToken, path } = await openHost()
    for (const url of [
      '/v2/x',
      `/v2/things/${thingToken}/x`,
      `${path}/resources/a/b`,
      '//v2//x//',
      '/v2/admin/x',
    ]) {
      const answer = await inject({ method, url, ...(method === 'POST' ? { body: '{' } : {}) })
      expect(answer.statusCode).toBe(404)
      if (method === 'HEAD') continue
      expect(reasonOf(answer)).toBe('not_found')
      expect(answer.body).not.toContain(thingToken)
    }
  })

  it('is not echoed when it is no path at all', async () => {
    const { inject, path } = await openHost()
    const broken = await inject({ url: `${path}/resources/%zz` })
    expect([broken.statusCode, reasonOf(broken)]).toEqual([400, 'bad_request'])
    expect(broken.body).not.toContain('zz')
    const endless = await inject({ url: `/v2/things/${'x'.repeat(5000)}/resources` })
    expect([endless.statusCode, reasonOf(endless)]).toEqual([404, 'not_found'])
    const spelledLikeNothing = await inject({ url: '/v2/things/abc/resources' })
    expect([spelledLikeNothing.statusCode, reasonOf(spelledLikeNothing)]).toEqual([404, 'not_found'])
  })
})

describe('a wrong method on a known path', () => {
  it.each([
    ['PUT', '/v2/things/<token>', 'GET, HEAD, POST'],
    ['PATCH', '/v2/things/<token>/', 'GET, HEAD, POST'],
    ['POST', '/v2/things/<token>/resources/k', 'DELETE, GET, HEAD'],
    ['PUT', '/v2/things', 'GET, HEAD, POST'],
    ['POST', '/v2/principal', 'GET, HEAD'],
    ['PUT', '/v2/admin/things', 'GET, HEAD, POST'],
    ['POST', '/v2/', 'GET, HEAD'],
    ['DELETE', '/v2/utils/date?thingToken=x', 'GET, HEAD'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['DELETE', '/readyz', 'GET, HEAD'],
  ] as const)('%s %s answers 405 with what is allowed', async (method, url, allowed) => {
    const { inject, thingToken } = await openHost()
    const answer = await inject({ method, url: url.replace('<token>', thingToken) })
    expect([answer.statusCode, reasonOf(answer)]).toEqual([405, 'method_not_allowed'])
    expect(answer.headers.allow).toBe(allowed)
  })
})

describe('GET /v2/', () => {
  it.each(['/v2/', '/v2', '/v2/?'])('answers %s with 401', async url => {
    const answer = await (await openHost()).inject({ url })
    expect([answer.statusCode, answer.json().message]).toEqual([401, 'Invalid session token'])
    expect(reasonOf(answer)).toBe('invalid_session')
  })
})

describe('a defect', () => {
  it('answers 500 without details, and is logged', async () => {
    const driver = createMemoryStore()
    const broken: typeof driver.records.read = async () => {
      throw new Error('secret detail')
    }
    const stream = new PassThrough()
    const host = await openHost({
      driver: { ...driver, records: { ...driver.records, read: broken } },
      fastify: { logger: { stream } },
    })
    const answer = await host.inject({ url: `${host.path}/resources/k` })
    expect([answer.statusCode, reasonOf(answer)]).toEqual([500, 'internal_error'])
    expect(answer.body).not.toContain('secret')
    stream.end()
    expect(await text(stream)).toContain('secret detail')
  })
})

describe('thingsHttp', () => {
  it('leaves the host as it is', async () => {
    const { inject } = await openHost({
      prepare: app => {
        app.post('/own', async request => ({ body: request.body }))
        app.get('/broken', async () => {
          throw new Error('own')
        })
        app.setErrorHandler((error: Error, _request, reply) => reply.code(418).send({ own: error.message }))
        app.setNotFoundHandler((_request, reply) => reply.code(404).send({ own: 'not found' }))
      },
    })
    const own = await inject({
      method: 'POST',
      url: '/own',
      body: { a: 1 },
      headers: { origin: 'https://a' },
    })
    expect(own.json()).toEqual({ body: { a: 1 } })
    expect(own.headers['access-control-allow-origin']).toBeUndefined()
    expect((await inject({ url: '/broken' })).json()).toEqual({ own: 'own' })
    expect((await inject({ url: '/nothing' })).json()).toEqual({ own: 'not found' })
    expect((await inject({ method: 'POST', url: '/own', body: '{', headers: json })).statusCode).toBe(418)
    expect(reasonOf(await inject({ url: '/v2/nothing' }))).toBe('not_found')
  })

  it('answers for the whole app if it owns it', async () => {
    const { inject } = await openHost({ plugin: { ownsApp: true } })
    for (const url of ['/', '/nothing', '/nothing/%7B']) {
      expect(reasonOf(await inject({ url }))).toBe('not_found')
    }
    expect(reasonOf(await inject({ method: 'POST', url: '/nothing', body: '{', headers: json }))).toBe(
      'not_found',
    )
  })

  it('answers what a plugin of the host stops with the status of that plugin', async () => {
    const { inject } = await openHost({
      prepare: app => {
        app.addHook('onRequest', async () => {
          throw Object.assign(new Error('slow down'), { statusCode: 429 })
        })
      },
    })
    const answer = await inject({ url: '/v2/' })
    expect([answer.statusCode, answer.json().code]).toEqual([429, 429])
    expect(answer.headers['retry-after']).toBe('5')
  })

  it('lets no token into the log of the host', async () => {
    const stream = new PassThrough()
    const { inject, thingToken, path } = await openHost({ fastify: { logger: { stream, level: 'trace' } } })
    const made = await inject({ method: 'POST', url: '/v2/admin/activation-codes', headers: asAdmin })
    const [code] = made.json().activationCodes
    await inject({ method: 'POST', url: path, body: '{' })
    await inject({ url: `${path}/resources/k` })
    await inject({ url: `${path}/nothing` })
    await inject({ method: 'PUT', url: path })
    await inject({ url: `/v2/utils/date?thingToken=${thingToken}` })
    await inject({ method: 'DELETE', url: `/v2/admin/activation-codes/${code}`, headers: asAdmin })
    stream.end()
    const log = await text(stream)
    expect(log).toContain('/v2/things/:ref/resources/:key')
    expect(log).not.toContain(thingToken)
    expect(log).not.toContain(code)
    expect(log).not.toContain(asAdmin.authorization.slice(7))
  })
})

const json = { 'content-type': 'application/json' }
