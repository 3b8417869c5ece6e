import { describe, expect, it } from 'vitest'
import { asAdmin, openHost, reasonOf } from '../host.ts'

const url = '/v2/principal'

describe('GET /v2/principal', () => {
  it('tells a thing its id and name', async () => {
    const { inject, things } = await openHost()
    const { thingId, thingToken } = await things.registry.create({ name: 'pump' })
    for (const authorization of [thingToken, `Bearer ${thingToken}`]) {
      const answer = await inject({ url, headers: { authorization } })
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toEqual({ kind: 'thing', thingId, name: 'pump' })
      expect(answer.headers['content-type']).toBe('application/json')
    }
  })

  it('tells the operator only that', async () => {
    const { inject } = await openHost()
    expect((await inject({ url, headers: asAdmin })).body).toBe('{"kind":"admin"}')
  })

  it('tells a session what it may do, and until when', async () => {
    const { inject, things, thingId } = await openHost()
    for (const of of ['*', [thingId]] as const) {
      const { sessionToken, sessionId, expiresAt } = await things.sessions.create(of, { access: 'read' })
      const answer = await inject({ url, headers: { authorization: `Bearer ${sessionToken}` } })
      expect(answer.json()).toEqual({
        kind: 'session',
        sessionId,
        access: 'read',
        things: of,
        isOperators: true,
        expiresAt: new Date(expiresAt).toISOString(),
      })
      expect(answer.body).not.toContain(sessionToken)
    }
  })

  it('tells a session that a thing minted apart from one of the operator', async () => {
    const { inject, things, thingId, thingToken } = await openHost()
    const { sessionToken } = await things.sessions.createForThing(thingId, thingToken, { access: 'write' })
    const answer = await inject({ url, headers: { authorization: sessionToken } })
    expect(answer.json()).toMatchObject({ access: 'write', things: [thingId], isOperators: false })
  })

  it('is not told to who has no credential, or one of a thing that is removed', async () => {
    const { inject, things } = await openHost()
    const none = await inject({ url })
    expect([none.statusCode, reasonOf(none)]).toEqual([401, 'missing_credential'])
    const { thingId, thingToken } = await things.registry.create({})
    await things.registry.remove(thingId)
    const removed = await inject({ url, headers: { authorization: thingToken } })
    expect([removed.statusCode, reasonOf(removed)]).toEqual([401, 'invalid_session'])
  })
})
