import type { InjectOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import { asAdmin, type Host, openHost, reasonOf } from '../host.ts'

type Method = 'GET' | 'POST' | 'DELETE' | 'PATCH'

function asked(host: Host) {
  return async (method: Method, path: string, body?: object | string) => {
    const request: InjectOptions = { method, url: `/v2/admin/sessions${path}`, headers: asAdmin }
    return await host.inject(body === undefined ? request : { ...request, body })
  }
}

describe('/v2/admin/sessions', () => {
  it.each([
    ['POST', ''],
    ['GET', '?limit=0'],
    ['GET', '/x'],
    ['DELETE', '/x'],
  ] as const)('%s %s wants the admin key before anything else', async (method, path) => {
    const { inject, thingToken, things } = await openHost()
    const url = `/v2/admin/sessions${path}`
    const none = await inject({ method, url, ...(method === 'POST' ? { body: '{' } : {}) })
    expect([none.statusCode, reasonOf(none)]).toEqual([401, 'missing_credential'])
    const { sessionToken } = await things.sessions.create('*', { access: 'write' })
    for (const authorization of [thingToken, sessionToken]) {
      const refused = await inject({ method, url, headers: { authorization } })
      expect([refused.statusCode, reasonOf(refused)]).toEqual([403, 'forbidden'])
    }
  })

  it('mints, shows and removes sessions, and shows no secret again', async () => {
    const host = await openHost()
    const ask = asked(host)
    const before = Date.now()
    const made = await ask('POST', '', { things: [host.thingId], access: 'write', expiresIn: 120 })
    expect(made.statusCode).toBe(201)
    const { sessionToken, sessionId, expiresAt, ...rest } = made.json()
    expect(rest).toEqual({})
    expect(new Date(expiresAt).toISOString()).toBe(expiresAt)
    expect(Date.parse(expiresAt) - before).toBeGreaterThanOrEqual(120_000)
    const headers = { authorization: `Bearer ${sessionToken}` }
    const read = async () => await host.inject({ url: `/v2/things/${host.thingId}/resources`, headers })
    expect((await read()).statusCode).toBe(200)

    const one = await ask('GET', `/${sessionId}`)
    expect(one.json()).toEqual({
      sessionId,
      things: [host.thingId],
      access: 'write',
      mintedBy: 'operator',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      expiresAt,
    })
    const listed = await ask('GET', '')
    expect(listed.json()).toEqual({ sessions: [one.json()] })
    for (const { body } of [one, listed]) expect(body).not.toContain(sessionToken)

    expect((await ask('DELETE', `/${sessionId}`)).body).toBe('{"status":"success"}')
    expect(reasonOf(await read())).toBe('invalid_session')
    expect(reasonOf(await ask('DELETE', `/${sessionId}`))).toBe('not_found')
    expect(reasonOf(await ask('GET', `/${sessionId}`))).toBe('not_found')
    expect((await ask('GET', '')).json()).toEqual({ sessions: [] })
  })

  it('lists the sessions of things too, in pages', async () => {
    const host = await openHost()
    const ask = asked(host)
    for (let count = 0; count < 3; count++) await ask('POST', '', { things: '*', access: 'read' })
    const url = `${host.path}/sessions`
    for (let count = 0; count < 2; count++)
      await host.inject({ method: 'POST', url, body: { access: 'read' } })
    const first = (await ask('GET', '?limit=3')).json()
    const second = (await ask('GET', `?limit=3&cursor=${first.next}`)).json()
    expect([first.sessions.length, second.sessions.length, second.next]).toEqual([3, 2, undefined])
    const mintedBy = [...first.sessions, ...second.sessions].map(session => session.mintedBy).sort()
    expect(mintedBy).toEqual(['operator', 'operator', 'operator', 'thing', 'thing'])
    expect((await ask('GET', '?limit=0')).json().reason).toBe('invalid_limit')
    expect((await ask('GET', '?cursor=x')).json().reason).toBe('invalid_cursor')
  })

  it.each([
    ['{}', 'invalid_body'],
    ['{"access":"read"}', 'invalid_body'],
    ['{"things":"*"}', 'invalid_body'],
    ['{"things":"all","access":"read"}', 'invalid_body'],
    ['{"things":[],"access":"read"}', 'invalid_body'],
    ['{"things":["*"],"access":"read"}', 'invalid_body'],
    ['{"things":[1],"access":"read"}', 'invalid_body'],
    ['{"things":{"0":"*"},"access":"read"}', 'invalid_body'],
    ['{"things":["aaaaaaaaaaaaaaaa"],"access":"read"}', 'unknown_thing'],
    ['{"things":"*","access":"read","expiresIn":31622401}', 'invalid_body'],
  ])('refuses the body %s', async (body, reason) => {
    expect(reasonOf(await asked(await openHost())('POST', '', body))).toBe(reason)
  })

  it('is known with its methods alone', async () => {
    const ask = asked(await openHost())
    expect((await ask('DELETE', '')).headers.allow).toBe('GET, HEAD, POST')
    expect((await ask('PATCH', '/x', {})).headers.allow).toBe('DELETE, GET, HEAD')
  })
})
