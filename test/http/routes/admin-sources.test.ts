import type { InjectOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import { ThingwireError } from '../../../src/errors.ts'
import { asAdmin, type Host, openHost, reasonOf } from '../host.ts'

const garden = { name: 'garden', formats: ['levels'], pattern: 'garden/{device}/{key}' }

function asked({ inject }: Host) {
  return async (method: 'GET' | 'POST' | 'DELETE' | 'PATCH', path: string, body?: object | string) => {
    const request: InjectOptions = { method, url: `/v2/admin/${path}`, headers: asAdmin }
    return await inject(body === undefined ? request : { ...request, body })
  }
}

async function hostWithSource(topics = ['garden/#']) {
  const host = await openHost()
  const ask = asked(host)
  const made = await ask('POST', 'sources', { ...garden, topics })
  const { sourceId, sourceToken } = made.json() as { sourceId: string; sourceToken: string }
  return { ...host, ask, made, sourceId, sourceToken, authorization: `Bearer ${sourceToken}` }
}

describe('/v2/admin/sources', () => {
  it('makes, shows, changes and removes sources, and shows no secret again', async () => {
    const { ask, made, inject, sourceId, sourceToken, authorization } = await hostWithSource()
    expect([made.statusCode, made.json()]).toEqual([201, { status: 'created', sourceId, sourceToken }])
    const principal = async () => await inject({ url: '/v2/principal', headers: { authorization } })
    expect((await principal()).json()).toEqual({
      ...{ kind: 'source', sourceId, name: 'garden', formats: ['levels'], topics: ['garden/#'] },
    })
    const one = await ask('GET', `sources/${sourceId}`)
    const shown = { ...garden, sourceId, topics: ['garden/#'], things: 'create' }
    expect(one.json()).toEqual({ ...shown, createdAt: expect.stringMatching(/^\d{4}-.*Z$/) })
    const listed = await ask('GET', 'sources')
    expect(listed.json()).toEqual({ sources: [one.json()] })
    for (const { body } of [one, listed, await principal()]) expect(body).not.toContain(sourceToken)

    const changed = await ask('PATCH', `sources/${sourceId}`, { name: 'yard', things: 'known' })
    expect(changed.body).toBe('{"status":"success"}')
    expect((await ask('GET', `sources/${sourceId}`)).json()).toMatchObject({
      ...shown,
      name: 'yard',
      things: 'known',
    })
    const renewed = await ask('POST', `sources/${sourceId}/token`)
    expect([renewed.statusCode, renewed.json()]).toEqual([
      201,
      { status: 'created', sourceToken: expect.stringMatching(/^\S{43}$/) },
    ])
    expect(reasonOf(await principal())).toBe('invalid_session')
    const next = { authorization: `Bearer ${renewed.json().sourceToken}` }
    expect((await inject({ url: '/v2/principal', headers: next })).json()).toMatchObject({ name: 'yard' })
    expect((await ask('DELETE', `sources/${sourceId}`)).body).toBe('{"status":"success"}')
    expect(reasonOf(await inject({ url: '/v2/principal', headers: next }))).toBe('invalid_session')
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/errors'],
      ['POST', '/token'],
      ['DELETE', ''],
    ] as const)
      expect(reasonOf(await ask(method, `sources/${sourceId}${path}`))).toBe('not_found')
    expect(reasonOf(await ask('PATCH', `sources/${sourceId}`, {}))).toBe('not_found')
    expect((await ask('GET', 'sources')).json()).toEqual({ sources: [] })
  })

  it.each([
    ['[]', 'must be a JSON object'],
    ['{}', 'name'],
    ['{"name":""}', 'name must not be empty'],
    ['{"name":"x","formats":"tasmota"}', 'formats must be an array of strings'],
    ['{"name":"x","formats":["nonsense"]}', 'formats must be one or more of'],
    ['{"name":"x","topics":[1]}', 'must be a string'],
    ['{"name":"x","topics":["things/#"]}', 'begins with things'],
    ['{"name":"x","things":"all"}', 'things must be "create" or "known"'],
    ['{"name":"x","overlap":1}', 'overlap must be true or false'],
    ['{"name":"x","pattern":null}', 'pattern must be a string'],
    ['{"name":"x","token":"mine"}', 'token'],
  ])('refuses the body %s', async (body, message) => {
    const answer = await asked(await openHost())('POST', 'sources', body)
    expect(reasonOf(answer)).toBe('invalid_body')
    expect(answer.json().message).toContain(message)
  })

  it('refuses topics of another source with 409, unless they may overlap', async () => {
    const { ask, sourceId } = await hostWithSource()
    const refused = await ask('POST', 'sources', { ...garden, topics: ['garden/a'] })
    expect([refused.statusCode, reasonOf(refused)]).toEqual([409, 'topics_overlap'])
    expect(refused.json().message).toContain(`garden (${sourceId})`)
    const made = await ask('POST', 'sources', { ...garden, topics: ['garden/a'], overlap: true })
    expect(made.statusCode).toBe(201)
  })

  it('is known with its methods alone', async () => {
    const ask = asked(await openHost())
    expect((await ask('DELETE', 'sources')).headers.allow).toBe('GET, HEAD, POST')
    expect((await ask('POST', 'sources/x', {})).headers.allow).toBe('DELETE, GET, HEAD, PATCH')
  })
})

describe('GET /v2/admin/sources/<id>/errors', () => {
  it('lists what could not be read, newest first', async () => {
    const { ask, things, sourceId } = await hostWithSource()
    for (const topic of ['garden/a', 'garden/b'])
      await things.ingest.noteRefused({
        thingId: sourceId,
        door: 'mqtt',
        error: new ThingwireError('unread_message', `${topic}: must be JSON`),
        body: Buffer.from('x'),
      })
    const listed = (await ask('GET', `sources/${sourceId}/errors`)).json()
    expect(listed).toMatchObject([{ message: 'garden/b: must be JSON' }, { reason: 'unread_message' }])
    expect((await ask('GET', `sources/${sourceId}/errors?limit=1`)).json()).toEqual([listed[0]])
    expect(reasonOf(await ask('GET', `sources/${sourceId}/errors?limit=0`))).toBe('invalid_limit')
  })
})

describe('the things of a source', () => {
  it('are listed with their devices, and by source', async () => {
    const { ask, things, inject, thingId, sourceId, sourceToken, authorization } = await hostWithSource()
    const principal = await things.access.identify(sourceToken)
    if (principal.kind !== 'source') throw new Error('no source')
    const made = await things.sourceThings.thingOf(principal, 'pump', undefined, 'Pump')
    const source = { sourceId, device: 'pump' }
    const one = (await ask('GET', `things?source=${sourceId}`)).json()
    expect(one.things).toMatchObject([{ thingId: made?.thingId, name: 'Pump', source, lastSeen: null }])
    await things.sourceThings.markGone(sourceId, 'pump', true)
    expect((await ask('GET', 'things')).json().things).toHaveLength(2)
    const visible = async (credential: string, query = '') =>
      (await inject({ url: `/v2/things${query}`, headers: { authorization: credential } })).json().things
    const session = await things.sessions.create('*', { access: 'read' })
    expect(await visible(session.sessionToken, `?source=${sourceId}`)).toMatchObject([
      { source: { ...source, isGone: true } },
    ])
    const other = await things.sessions.create([thingId], { access: 'read' })
    expect(await visible(other.sessionToken, `?source=${sourceId}`)).toEqual([])
    expect(await visible(authorization)).toEqual([])
  })

  it('are attached to devices by the operator', async () => {
    const { ask, thingId, sourceId } = await hostWithSource()
    const source = { sourceId, device: 'pump' }
    const attached = await ask('PATCH', `things/${thingId}`, { source, name: 'well' })
    expect(attached.body).toBe('{"status":"success"}')
    const { things } = (await ask('GET', `things?source=${sourceId}`)).json()
    expect(things).toMatchObject([{ thingId, name: 'well', source }])
    const unknown = 'aaaaaaaaaaaaaaaa'
    for (const [id, body, reason] of [
      [thingId, { source: { ...source, sourceId: unknown } }, 'not_found'],
      [unknown, { source }, 'unknown_thing'],
      [thingId, { source: { ...source, device: '' } }, 'invalid_body'],
      [thingId, { source: { sourceId } }, 'invalid_body'],
      [thingId, { source, topics: [] }, 'invalid_body'],
    ] as const)
      expect(reasonOf(await ask('PATCH', `things/${id}`, body)), JSON.stringify(body)).toBe(reason)
  })
})

describe("a source's token", () => {
  it('opens no route but its own', async () => {
    const { app, inject, thingId, sourceId, sourceToken, authorization, path, things } =
      await hostWithSource()
    const principal = await things.access.identify(sourceToken)
    if (principal.kind !== 'source') throw new Error('no source')
    // Not even those of the things that it has made, which it writes by its topics.
    const made = await things.sourceThings.thingOf(principal, 'pump', undefined, 'pump')
    const paths = (ref: string | undefined, rest: readonly string[]) =>
      rest.map(each => `/v2/things/${ref}${each}`)
    const reads = [
      '',
      '/resources',
      '/resources/a',
      '/all_resources',
      '/aggregates?keys=a&points=1',
      '/errors',
    ]
    const routes: (readonly [InjectOptions['method'] & string, string, string])[] = []
    for (const ref of [thingId, made?.thingId]) {
      for (const url of paths(ref, reads)) routes.push(['GET', url, '403 forbidden'])
      for (const url of paths(ref, ['', '/sessions'])) routes.push(['POST', url, '403 forbidden'])
      for (const url of paths(ref, ['/resources/a'])) routes.push(['DELETE', url, '403 forbidden'])
    }
    for (const url of paths(sourceToken, reads)) routes.push(['GET', url, '401 unknown_thing_token'])
    for (const url of paths(sourceToken, ['', '/sessions']))
      routes.push(['POST', url, '401 unknown_thing_token'])
    for (const url of paths(sourceId, ['/resources'])) routes.push(['GET', url, '403 forbidden'])
    routes.push(['GET', `/v2/utils/date?thingToken=${sourceToken}`, '401 unknown_thing_token'])
    routes.push(['GET', '/v2/', '401 invalid_session'])
    for (const url of [
      'things',
      'sources',
      `sources/${sourceId}`,
      `sources/${sourceId}/errors`,
      'sessions',
      'forward',
    ])
      routes.push(['GET', `/v2/admin/${url}`, '403 forbidden'])
    for (const url of [
      'things',
      'sources',
      'sessions',
      'activation-codes',
      'backup',
      `things/${thingId}/tokens`,
    ])
      routes.push(['POST', `/v2/admin/${url}`, '403 forbidden'])
    for (const method of ['PATCH', 'DELETE'] as const)
      for (const url of [`things/${thingId}`, `sources/${sourceId}`])
        routes.push([method, `/v2/admin/${url}`, '403 forbidden'])
    const wrong: string[] = []
    for (const [method, url, expected] of routes) {
      const body =
        method === 'POST' || method === 'PATCH' ? { body: { values: [{ key: 'a', value: 1 }] } } : {}
      const answer = await inject({ method, url, headers: { authorization }, ...body })
      const got = `${answer.statusCode} ${reasonOf(answer)}`
      if (got !== expected) wrong.push(`${method} ${url}: ${got}`)
      if (answer.body.includes(sourceToken)) wrong.push(`${method} ${url}: shows the token`)
    }
    expect(wrong).toEqual([])
    for (const url of [`/v2/things/${thingId}?session=${sourceToken}`, '/v2/things?thingId=x&session=y'])
      expect((await app.inject({ url })).statusCode, url).toBeGreaterThanOrEqual(400)
    expect((await inject({ url: `${path}/resources` })).json()).toEqual({ resources: [] })
  })
})
