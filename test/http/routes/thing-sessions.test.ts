import { describe, expect, it } from 'vitest'
import { asAdmin, type Host, openHost, reasonOf } from '../host.ts'

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

const record = { values: [{ key: 'k', value: 1 }] }

/** Mints a session for the thing, by its token unless `headers` say otherwise. */
async function mint(host: Host, access: 'read' | 'write', headers: Record<string, string> = {}) {
  const { thingId, thingToken } = host
  const answer = await host.inject({
    method: 'POST',
    url: `/v2/things/${thingId}/sessions`,
    headers: { authorization: thingToken, ...headers },
    body: { access },
  })
  if (answer.statusCode !== 201) throw new Error(`not minted: ${answer.body}`)
  const { sessionToken, sessionId } = answer.json() as Record<string, string>
  return { sessionToken: sessionToken ?? '', sessionId: sessionId ?? '' }
}

async function mintFor(host: Host, things: '*' | readonly string[], access: 'read' | 'write') {
  const url = '/v2/admin/sessions'
  const answer = await host.inject({ method: 'POST', url, headers: asAdmin, body: { things, access } })
  return (answer.json() as { sessionToken: string }).sessionToken
}

/** Asks for a path of the thing by its id, with a credential. */
function asked(host: Host, credential: string) {
  return async (method: Method, rest: string, body?: object) => {
    const url = `/v2/things/${host.thingId}${rest}`
    const headers = { authorization: `Bearer ${credential}` }
    return await host.inject({ method, url, headers, ...(body === undefined ? {} : { body }) })
  }
}

describe('POST /v2/things/<ref>/sessions', () => {
  it('mints by the token in the path, or by the token or the admin key with the id', async () => {
    const host = await openHost()
    const { inject, thingId, thingToken } = host
    for (const [ref, headers] of [
      [thingToken, {}],
      [thingToken, asAdmin],
      [thingId, { authorization: thingToken }],
      [thingId, { authorization: `Bearer ${thingToken}` }],
      [thingId, asAdmin],
    ] as const) {
      const body = { access: 'read', expiresIn: 60 }
      const before = Date.now()
      const answer = await inject({ method: 'POST', url: `/v2/things/${ref}/sessions`, headers, body })
      expect(answer.statusCode).toBe(201)
      const { status, sessionToken, sessionId, expiresAt, ...rest } = answer.json()
      expect([status, rest]).toEqual(['created', {}])
      expect(sessionToken).toMatch(/^[\w-]{43}$/)
      expect(sessionId).toMatch(/^[0-9a-f]{18}$/)
      expect(new Date(expiresAt).toISOString()).toBe(expiresAt)
      expect(Date.parse(expiresAt) - before).toBeGreaterThanOrEqual(60_000)
      expect((await asked(host, sessionToken)('GET', '/resources')).statusCode).toBe(200)
    }
  })

  it('refuses each wrong credential for its own reason', async () => {
    const host = await openHost()
    const { inject, thingId, things } = host
    const other = await things.registry.create({})
    const session = await mint(host, 'write')
    const cases = [
      [thingId, undefined, 401, 'missing_credential'],
      [thingId, 'x'.repeat(43), 401, 'invalid_session'],
      ['x'.repeat(43), undefined, 401, 'unknown_thing_token'],
      [thingId, other.thingToken, 403, 'forbidden'],
      [thingId, session.sessionToken, 403, 'forbidden'],
      [thingId, await mintFor(host, '*', 'write'), 403, 'forbidden'],
      [session.sessionToken, undefined, 401, 'unknown_thing_token'],
      ['a'.repeat(16), asAdmin.authorization, 404, 'unknown_thing'],
      ['nothing', asAdmin.authorization, 404, 'not_found'],
    ] as const
    for (const [ref, authorization, status, reason] of cases) {
      const headers = authorization === undefined ? {} : { authorization }
      const url = `/v2/things/${ref}/sessions`
      const answer = await inject({ method: 'POST', url, headers, body: { access: 'read' } })
      expect([answer.statusCode, reasonOf(answer)]).toEqual([status, reason])
    }
  })

  it.each([
    ['', 'invalid_body'],
    ['{', 'invalid_json'],
    ['[]', 'invalid_body'],
    ['{}', 'invalid_body'],
    ['{"access":"admin"}', 'invalid_body'],
    ['{"access":["read"]}', 'invalid_body'],
    ['{"access":"read","expiresIn":0}', 'invalid_body'],
    ['{"access":"read","expiresIn":1.5}', 'invalid_body'],
    ['{"access":"read","expiresIn":"60"}', 'invalid_body'],
    ['{"access":"read","expiresIn":null}', 'invalid_body'],
    ['{"access":"read","expiresIn":1e999}', 'invalid_body'],
    ['{"access":"read","expiresIn":2592001}', 'invalid_body'],
  ])('refuses the body %s', async (body, reason) => {
    const { inject, path } = await openHost()
    expect(reasonOf(await inject({ method: 'POST', url: `${path}/sessions`, body }))).toBe(reason)
  })

  it('gives one that works up to its last moment, and never after', async () => {
    const host = await openHost()
    const terms = { access: 'read', expiresIn: 1 } as const
    const { sessionToken, expiresAt } = await host.things.sessions.create('*', terms)
    const ask = asked(host, sessionToken)
    for (;;) {
      const answer = await ask('GET', '/resources')
      if (answer.statusCode === 200) continue
      expect([answer.statusCode, reasonOf(answer)]).toEqual([401, 'invalid_session'])
      expect(Date.now()).toBeGreaterThanOrEqual(expiresAt)
      break
    }
    expect(reasonOf(await ask('GET', '/resources'))).toBe('invalid_session')
  })

  it('refuses the 101st session of a thing', async () => {
    const host = await openHost()
    for (let count = 0; count < 100; count++) await mint(host, 'read')
    const url = `${host.path}/sessions`
    const answer = await host.inject({ method: 'POST', url, body: { access: 'read' } })
    expect(reasonOf(answer)).toBe('too_many_sessions')
  })
})

describe('a session', () => {
  const range = '/resources/k?limit=10'
  /** Method, path, body, and whether it is allowed: a read session; the write session of a thing; of the operator. */
  const table: readonly [Method, string, object | undefined, boolean, boolean, boolean][] = [
    ['GET', '/resources', undefined, true, true, true],
    ['GET', '/all_resources', undefined, true, true, true],
    ['GET', range, undefined, true, true, true],
    ['GET', '/resources/k?aggregate=count&interval=1h', undefined, true, true, true],
    ['GET', '/aggregates?keys=k,$settings&aggregate=count&interval=1h', undefined, true, true, true],
    ['GET', '/resources/$settings', undefined, true, true, true],
    ['POST', '', record, false, true, true],
    ['GET', '/errors', undefined, false, true, true],
    ['DELETE', '/resources/k', undefined, false, false, true],
    ['POST', '/sessions', { access: 'read' }, false, false, false],
  ]

  it.each(table)('may do with %s %s what its kind may', async (method, rest, body, ...mays) => {
    const host = await openHost()
    await host.write({ key: 'k', value: 1 }, { key: '$settings', value: { a: 1 } })
    const credentials = [
      (await mint(host, 'read')).sessionToken,
      (await mint(host, 'write')).sessionToken,
      (await mint(host, 'write', asAdmin)).sessionToken,
    ]
    for (const [index, credential] of credentials.entries()) {
      const answer = await asked(host, credential)(method, rest, body)
      if (mays[index]) expect(Math.floor(answer.statusCode / 100)).toBe(2)
      else expect([answer.statusCode, reasonOf(answer)]).toEqual([403, 'forbidden'])
    }
  })

  it.each(table)(
    'may do nothing with %s %s of a thing that it does not cover',
    async (method, rest, body) => {
      const host = await openHost()
      const other = await host.things.registry.create({})
      const sessions = [
        (await mint(host, 'write')).sessionToken,
        await mintFor(host, [host.thingId], 'write'),
      ]
      for (const session of sessions) {
        const answer = await asked({ ...host, thingId: other.thingId }, session)(method, rest, body)
        expect([answer.statusCode, reasonOf(answer)]).toEqual([403, 'forbidden'])
      }
    },
  )

  it('of all things covers one that is made after it', async () => {
    const host = await openHost()
    const session = await mintFor(host, '*', 'write')
    const { thingId } = await host.things.registry.create({})
    const ask = asked({ ...host, thingId }, session)
    expect((await ask('POST', '', record)).statusCode).toBe(201)
    expect((await ask('GET', range)).json()).toHaveLength(1)
  })

  it('is no thing token, neither in a path nor for the date', async () => {
    const host = await openHost()
    const { sessionToken } = await mint(host, 'write')
    for (const request of [
      { method: 'POST', url: `/v2/things/${sessionToken}`, body: record },
      { method: 'POST', url: `/v2/things/${sessionToken}`, headers: asAdmin, body: record },
      { method: 'GET', url: `/v2/things/${sessionToken}/resources` },
      { method: 'GET', url: `/v2/utils/date?thingToken=${sessionToken}` },
    ] as const) {
      const answer = await host.inject(request)
      expect([answer.statusCode, reasonOf(answer)]).toEqual([401, 'unknown_thing_token'])
    }
  })

  it('is no admin key', async () => {
    const host = await openHost()
    const headers = { authorization: `Bearer ${await mintFor(host, '*', 'write')}` }
    for (const path of ['things', 'sessions', 'activation-codes', `things/${host.thingId}/tokens`]) {
      const answer = await host.inject({ url: `/v2/admin/${path}`, headers })
      expect([answer.statusCode, reasonOf(answer)]).toEqual([403, 'forbidden'])
    }
  })

  it('does not count as the thing being seen', async () => {
    const host = await openHost()
    const session = await mintFor(host, '*', 'write')
    expect((await asked(host, session)('POST', '', record)).statusCode).toBe(201)
    const listed = await host.inject({ url: '/v2/admin/things', headers: asAdmin })
    expect(listed.json().things).toMatchObject([{ lastSeen: null }])
  })

  it('dies with the token that minted it, and not with another', async () => {
    const host = await openHost()
    const { inject, thingId, thingToken } = host
    const tokens = `/v2/admin/things/${thingId}/tokens`
    const added = (await inject({ method: 'POST', url: tokens, headers: asAdmin })).json()
    const byOld = await mint(host, 'read', { authorization: thingToken })
    const byNew = await mint(host, 'read', { authorization: added.thingToken })
    const [old] = (await inject({ url: tokens, headers: asAdmin })).json().tokens
    const gone = { method: 'DELETE', url: `${tokens}/${old.tokenId}`, headers: asAdmin } as const
    expect((await inject(gone)).statusCode).toBe(200)
    expect(reasonOf(await asked(host, byOld.sessionToken)('GET', '/resources'))).toBe('invalid_session')
    expect((await asked(host, byNew.sessionToken)('GET', '/resources')).statusCode).toBe(200)
    await inject({ method: 'DELETE', url: `/v2/admin/things/${thingId}`, headers: asAdmin })
    expect(reasonOf(await asked(host, byNew.sessionToken)('GET', '/resources'))).toBe('invalid_session')
    const session = await inject({ url: `/v2/admin/sessions/${byNew.sessionId}`, headers: asAdmin })
    expect(reasonOf(session)).toBe('not_found')
  })
})
