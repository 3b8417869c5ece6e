import { describe, expect, it } from 'vitest'
import { asAdmin, type Host, openHost, reasonOf } from '../host.ts'

/** Ids on a page of `GET /v2/things`. */
async function visible(host: Host, credential: string, query = ''): Promise<string[]> {
  const answer = await host.inject({ url: `/v2/things${query}`, headers: { authorization: credential } })
  expect(answer.statusCode).toBe(200)
  return answer.json().things.map(({ thingId }: { thingId: string }) => thingId)
}

describe('GET /v2/things', () => {
  it('gives the operator, and a session of all things, what GET /v2/admin/things gives', async () => {
    const host = await openHost()
    await host.write({ key: '$geo', value: [2, 41] })
    for (let count = 0; count < 3; count++) await host.things.registry.create({ name: `pump ${count}` })
    const { sessionToken } = await host.things.sessions.create('*', { access: 'read' })
    for (const query of ['', '?limit=2', '?name=PUMP', '?bbox=1,40,3,42']) {
      const wanted = await host.inject({ url: `/v2/admin/things${query}`, headers: asAdmin })
      for (const authorization of [asAdmin.authorization, sessionToken]) {
        const answer = await host.inject({ url: `/v2/things${query}`, headers: { authorization } })
        expect(answer.body).toBe(wanted.body)
      }
    }
  })

  it('gives a thing itself, a session its things, and nobody more', async () => {
    const host = await openHost()
    const { registry, sessions } = host.things
    const made = await Promise.all(['a', 'b', 'c'].map(name => registry.create({ name })))
    const ids = made.map(({ thingId }) => thingId).sort()
    const some = ids.slice(1)
    const { sessionToken } = await sessions.create(some, { access: 'read' })
    expect(await visible(host, host.thingToken)).toEqual([host.thingId])
    expect(await visible(host, sessionToken)).toEqual(some)
    expect(await visible(host, sessionToken, '?limit=1')).toEqual(some.slice(0, 1))
    expect(await visible(host, sessionToken, `?limit=1&cursor=${some[0]}`)).toEqual(some.slice(1))
    const other = ids[0] ?? ''
    expect(await visible(host, sessionToken, `?thingId=${other}`)).toEqual([])
    expect(await visible(host, sessionToken, `?thingId=${some[1]}`)).toEqual([some[1]])
    expect(await visible(host, asAdmin.authorization.slice(7), `?thingId=${other}`)).toEqual([other])
    expect(await visible(host, asAdmin.authorization.slice(7), '?thingId=none')).toEqual([])
  })

  it('refuses who has no credential, and a query that cannot be', async () => {
    const host = await openHost()
    const none = await host.inject({ url: '/v2/things' })
    expect([none.statusCode, reasonOf(none)]).toEqual([401, 'missing_credential'])
    const bad = await host.inject({ url: '/v2/things?limit=0', headers: asAdmin })
    expect([bad.statusCode, reasonOf(bad)]).toEqual([400, 'invalid_limit'])
    const twice = await host.inject({ url: '/v2/things?thingId=a&thingId=b', headers: asAdmin })
    expect([twice.statusCode, reasonOf(twice)]).toEqual([400, 'invalid_query'])
  })

  it('leaves POST to activation', async () => {
    const { inject, things } = await openHost()
    const [activationCode] = await things.activationCodes.create({ count: 1, uses: 1 })
    const answer = await inject({ method: 'POST', url: '/v2/things', body: { activationCode } })
    expect(answer.statusCode).toBe(201)
  })
})
