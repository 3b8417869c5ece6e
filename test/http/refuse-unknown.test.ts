import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { adminKey, asAdmin, connectTo, type Host, openHost, reasonOf } from './host.ts'

describe('a query parameter that is unknown', () => {
  it.each([
    ['GET', '?temperature=21.5', /parameter "temperature" is unknown: this address accepts keepAlive/],
    ['HEAD', '?temperature=21.5', undefined],
    ['GET', '/resources/k?startdate=2026', /"startdate" is unknown: .*startDate/],
    ['GET', '/resources/k?limit=2&_=1', /parameter "_" is unknown/],
    ['GET', '/resources?limit=2', /"limit" is unknown: this address accepts none/],
    ['GET', '/all_resources?keys=k', /"keys" is unknown/],
    ['GET', '/aggregates?key=k&points=10', /"key" is unknown: .*keys/],
    ['GET', '/errors?since=1', /"since" is unknown/],
    [
      'DELETE',
      '/resources/k?startdate=2026-01-01',
      /"startdate" is unknown: this address accepts startDate, endDate/,
    ],
    ['DELETE', '/resources/k?limit=1', /"limit" is unknown/],
  ] as const)('%s %s is refused, and nothing is done', async (method, rest, message) => {
    const { inject, path, write } = await openHost()
    await write({ key: 'k', value: 1 })
    const answer = await inject({ method, url: `${path}${rest}` })
    expect(answer.statusCode).toBe(400)
    if (message)
      expect(answer.json()).toMatchObject({
        reason: 'invalid_query',
        message: expect.stringMatching(message),
      })
    expect((await inject({ url: `${path}/resources/k` })).json()).toHaveLength(1)
  })

  it.each([
    ['amp;order=asc', 'amp;order'],
    ['field[0]=1', 'field[0]'],
    ['limit[]=1', 'limit[]'],
    ['my%20temp', 'my temp'],
    ['temp%C3%A9=1', 'tempé'],
    ['a%22b%0A=1', 'a"b\n'],
    ['=1', ''],
    ['limit=1&%F0%9F%8C%A1=1', '🌡'],
    [`${'x'.repeat(43)}=1`, '[redacted]'],
    [`for${'%20wind'.repeat(30)}=1`, `for${' wind'.repeat(30)}`.slice(0, 60)],
  ])('is named: %s', async (query, name) => {
    const { inject, path } = await openHost()
    const { reason, message } = (await inject({ url: `${path}/errors?${query}` })).json()
    expect(reason).toBe('invalid_query')
    expect(message).toBe(`the query parameter ${JSON.stringify(name)} is unknown: this address accepts limit`)
  })

  it('is named without a credential that is in it', async () => {
    const { inject, path, thingToken } = await openHost()
    for (const credential of [thingToken, adminKey, encodeURIComponent(encodeURIComponent(`${adminKey}=`))]) {
      const { message } = (await inject({ url: `${path}/errors?a%20${credential}` })).json()
      expect(message).toMatch(/parameter "a \[redacted\]/)
      expect(message).not.toContain(credential)
    }
  })

  it('is refused where the session is in the query', async () => {
    const { inject, thingId, things } = await openHost()
    const { sessionToken } = await things.sessions.create('*', { access: 'read' })
    const url = `/v2/things/${thingId}?session=${sessionToken}`
    const answer = await inject({ method: 'HEAD', url: `${url}&keepalive=1000` })
    expect(answer.statusCode).toBe(400)
    expect((await inject({ method: 'HEAD', url })).statusCode).toBe(200)
  })

  it('is ignored by a write', async () => {
    const { inject, path } = await openHost()
    const payload = { values: [{ key: 'k', value: 1 }] }
    expect((await inject({ method: 'POST', url: `${path}?_=1&x`, payload })).statusCode).toBe(201)
  })
})

describe('what is unknown in a request of the operator', () => {
  it.each([
    [
      'sessions',
      {},
      { things: '*', access: 'read', expires_in: 60 },
      /member "expires_in" .*unknown: it accepts things/,
    ],
    ['things', {}, { nam: 'pump' }, /member "nam" .*unknown: it accepts name, topics/],
    ['activation-codes', {}, { count: 1, use: 2 }, /member "use" .*unknown: it accepts count, uses/],
    ['things', { name: 'pump' }, {}, /parameter "name" is unknown: this address accepts none/],
    [
      'sessions',
      {},
      { things: '*', access: 'read', topics: [{ filter: 'a/#', access: 'read', qos: 1 }] },
      /member "qos" of the body is unknown: topics 0 must be an object {"filter","access"}/,
    ],
    ['things', {}, { 'my "name"': 'pump' }, /member "my \\"name\\"" of the body is unknown/],
    ['things', {}, { ['y'.repeat(43)]: 'pump' }, /member "\[redacted\]" of the body is unknown/],
    ['sessions', { access: 'read' }, { things: '*', access: 'read' }, /parameter "access" is unknown/],
  ])('is refused by %s with its name: %j %j', async (address, query, body, message) => {
    const { inject } = await openHost()
    const url = `/v2/admin/${address}?${new URLSearchParams(query)}`
    const answer = await inject({ method: 'POST', url, headers: asAdmin, payload: body })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ message: expect.stringMatching(message) })
  })
})

describe('what is unknown in a request for a session of a thing', () => {
  it.each([
    ['', { access: 'read', expiresin: 60 }, 'invalid_body', /"expiresin" .*: it accepts access, expiresIn/],
    [
      '',
      { access: 'read', expiresIn: 60, other: 1 },
      'invalid_body',
      /member "other" of the body is unknown/,
    ],
    [
      '?expiresIn=5',
      { access: 'read' },
      'invalid_query',
      /"expiresIn" is unknown: this address accepts none/,
    ],
  ])('is refused with its name, whoever asks: %s %j', async (query, body, reason, message) => {
    const { inject, thingId, thingToken, things } = await openHost()
    for (const [ref, headers] of [
      [thingToken, {}],
      [thingId, { authorization: thingToken }],
      [thingId, asAdmin],
    ] as const) {
      const answer = await inject({
        method: 'POST',
        url: `/v2/things/${ref}/sessions${query}`,
        headers,
        body,
      })
      expect(reasonOf(answer)).toBe(reason)
      expect(answer.json().message).toMatch(message)
    }
    expect((await things.sessions.list({ limit: 1 })).sessions).toEqual([])
  })
})

const bodies: readonly (readonly [string, string | Buffer, Record<string, string>])[] = [
  ['a range', '{"startDate":"20260101000000"}', { 'content-type': 'application/json' }],
  ['a range without a type', '{"startDate":"20260101000000"}', {}],
  ['text', 'startDate=20260101000000', { 'content-type': 'text/plain' }],
  ['an array', '[]', {}],
  ['null', 'null', {}],
  ['no JSON', '{', {}],
  ['gzip', gzipSync('{"a":1}'), { 'content-encoding': 'gzip' }],
  ['a binary format', Buffer.of(0x81, 0xa1), { 'content-type': 'application/msgpack' }],
]
const empties: readonly (readonly [string, string | undefined, Record<string, string>])[] = [
  ['no body with a type', undefined, { 'content-type': 'application/json' }],
  ['no body with a binary type', undefined, { 'content-type': 'application/msgpack' }],
  ['Content-Length: 0', '', { 'content-length': '0', 'content-type': 'text/plain' }],
  ['an empty object', '{}', { 'content-type': 'application/json' }],
  ['an empty object with spaces', ' {\n} ', {}],
]

/** Every operation that takes no body, by its path, with the query parameters that it names. */
async function withoutBody(host: Host) {
  const { inject, things, thingId } = host
  await host.write({ key: 'k', value: 1 })
  const { tokenId } = await things.registry.addToken(thingId)
  const { sessionId } = await things.sessions.create('*', { access: 'read' })
  const [code] = (
    await inject({ method: 'POST', url: '/v2/admin/activation-codes', headers: asAdmin })
  ).json().activationCodes
  return [
    ['DELETE', `/v2/things/${thingId}/resources/k`, 'startDate, endDate'],
    ['DELETE', `/v2/admin/things/${thingId}/tokens/${tokenId}`, undefined],
    ['DELETE', `/v2/admin/sessions/${sessionId}`, undefined],
    ['DELETE', `/v2/admin/activation-codes/${code}`, undefined],
    ['POST', `/v2/admin/things/${thingId}/tokens`, undefined],
    ['GET', `/v2/things/${thingId}/resources`, undefined],
    ['GET', `/v2/things/${thingId}/all_resources`, 'limit'],
    ['HEAD', `/v2/things/${thingId}`, 'keepAlive, session'],
    ['GET', '/v2/things', 'limit, cursor, name, bbox, source, thingId'],
    ['GET', '/v2/principal', undefined],
    ['GET', '/v2/admin/sessions', 'limit, cursor'],
    ['DELETE', `/v2/admin/things/${thingId}`, undefined],
  ] as const
}

describe('a body that is not taken', () => {
  it.each(bodies)('is refused, and nothing is done: %s', async (_, payload, headers) => {
    const host = await openHost()
    const requests = await withoutBody(host)
    const all = async () => {
      const get = async (url: string) => (await host.inject({ url, headers: asAdmin })).body
      const lists = [`things/${host.thingId}/tokens`, 'sessions', 'activation-codes', 'things']
      return [
        await get(`/v2/things/${host.thingId}/resources/k`),
        ...(await Promise.all(lists.map(list => get(`/v2/admin/${list}`)))),
      ]
    }
    const before = await all()
    for (const [method, url, query] of requests) {
      const answer = await host.inject({ method, url, headers: { ...asAdmin, ...headers }, payload })
      expect([url, answer.statusCode]).toEqual([url, 400])
      if (method === 'HEAD') continue
      expect(reasonOf(answer)).toBe('invalid_body')
      const takes = query === undefined ? '' : `; its query accepts ${query}`
      expect(answer.json().message).toBe(`this request accepts no body${takes}`)
    }
    expect(await all()).toEqual(before)
  })

  it.each(empties)('may be empty: %s', async (_, payload, headers) => {
    const host = await openHost()
    for (const [method, url] of await withoutBody(host)) {
      const request = { method, url, headers: { ...asAdmin, ...headers } }
      const answer = await host.inject(payload === undefined ? request : { ...request, payload })
      expect([url, Math.floor(answer.statusCode / 100)]).toEqual([url, 2])
    }
  })

  it('may come in no chunks, and is refused in some, over a connection that goes on', async () => {
    const { app, path } = await openHost()
    const connection = await connectTo(app)
    const head = `GET ${path}/resources HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`
    connection.send(`${head}0\r\n\r\n`)
    expect(await connection.received('{"resources":[]}')).toContain('HTTP/1.1 200')
    connection.send(`${head}5\r\nlimit\r\n0\r\n\r\n`)
    expect(await connection.received('this request accepts no body')).toContain('HTTP/1.1 400')
    connection.send('GET /v2/ HTTP/1.1\r\nHost: a\r\n\r\n')
    expect(await connection.received('Invalid session token')).toContain('HTTP/1.1 401')
  })

  it('is refused as too large where it is', async () => {
    const { inject, path } = await openHost({ plugin: { bodyLimit: 100 } })
    for (const method of ['GET', 'DELETE'] as const) {
      const answer = await inject({ method, url: `${path}/resources/k`, payload: 'x'.repeat(101) })
      expect(reasonOf(answer)).toBe('body_too_large')
    }
  })

  it('does not stand before the question who asks', async () => {
    const { inject, thingId } = await openHost()
    const url = `/v2/things/${thingId}/resources/k`
    const answer = await inject({ method: 'DELETE', url, payload: '{"a":1}' })
    expect(reasonOf(answer)).toBe('missing_credential')
  })
})
