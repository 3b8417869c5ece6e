import { describe, expect, it } from 'vitest'
import { openHost } from './host.ts'

const origin = 'https://dashboard.example'

describe('a page of another origin', () => {
  it('may read answers, errors too', async () => {
    const { inject, path } = await openHost()
    for (const url of [`${path}/resources`, '/v2/unknown', '/v2/']) {
      const { headers } = await inject({ url, headers: { origin } })
      expect(headers['access-control-allow-origin']).toBe('*')
      expect(headers['access-control-expose-headers']).toBe('Date, Link, Retry-After, Thingwire-Interval')
      expect(headers['access-control-allow-credentials']).toBeUndefined()
    }
  })

  it('gets a preflight answered with a body', async () => {
    const { inject, path } = await openHost()
    const headers = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,idempotency-key',
    }
    for (const url of [path, `${path}/resources/k`, '/v2/admin/things']) {
      const answer = await inject({ method: 'OPTIONS', url, headers })
      expect([answer.statusCode, answer.body]).toEqual([200, '{}'])
      expect(answer.headers['access-control-allow-origin']).toBe('*')
      expect(answer.headers['access-control-allow-methods']).toBe('GET, HEAD, POST, PATCH, DELETE')
      expect(answer.headers['access-control-allow-headers']).toBe('authorization,idempotency-key')
    }
  })

  it('cannot put anything else into a header', async () => {
    const { inject, path } = await openHost()
    const headers = { origin, 'access-control-request-headers': 'a{b' }
    const answer = await inject({ method: 'OPTIONS', url: path, headers })
    expect(answer.headers['access-control-allow-headers']).toBeUndefined()
  })

  it('must be allowed if the host says which are', async () => {
    const { inject, path } = await openHost({ plugin: { allowedOrigins: [origin] } })
    const url = `${path}/resources`
    const allowed = await inject({ url, headers: { origin } })
    expect(allowed.headers).toMatchObject({ 'access-control-allow-origin': origin, vary: 'Origin' })
    const other = await inject({ url, headers: { origin: 'https://other.example' } })
    expect(other.headers['access-control-allow-origin']).toBeUndefined()
    expect(other.headers.vary).toBe('Origin')
  })
})

describe('a request without Origin', () => {
  it('gets no headers of this kind', async () => {
    const { inject, path } = await openHost()
    const { headers } = await inject({ url: `${path}/resources` })
    expect(Object.keys(headers).filter(name => /access-control|vary/.test(name))).toEqual([])
  })
})
