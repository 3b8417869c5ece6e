import type { InjectOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import type { StoreDriver } from '../../../src/store/contract.ts'
import { createMemoryStore } from '../../../src/store/memory/index.ts'
import { asAdmin, type Host, openHost, reasonOf } from '../host.ts'

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

function asked(host: Host) {
  return async (method: Method, path: string, body?: object | string) => {
    const request: InjectOptions = { method, url: `/v2/admin/${path}`, headers: asAdmin }
    return await host.inject(body === undefined ? request : { ...request, body })
  }
}

describe('every admin path', () => {
  const paths: [Method, string][] = [
    ['POST', 'things'],
    ['GET', 'things?limit=0'],
    ['PATCH', 'things/x'],
    ['DELETE', 'things/x'],
    ['POST', 'things/x/tokens'],
    ['GET', 'things/x/tokens'],
    ['DELETE', 'things/x/tokens/y'],
    ['POST', 'activation-codes'],
    ['GET', 'activation-codes'],
    ['DELETE', 'activation-codes/x'],
    ['POST', 'backup'],
  ]

  it.each(paths)('%s %s wants the admin key before anything else', async (method, path) => {
    const { inject, thingToken } = await openHost({ plugin: { bodyLimit: 10 } })
    const bad = { body: '{"name":}'.padEnd(20), 'content-type': 'application/msgpack' }
    const ask = async (headers: Record<string, string>) =>
      await inject({
        method,
        url: `/v2/admin/${path}`,
        ...(method === 'POST' ? { body: bad.body } : {}),
        headers,
      })
    const none = await ask({ 'content-type': bad['content-type'] })
    expect([none.statusCode, reasonOf(none)]).toEqual([401, 'missing_credential'])
    expect(reasonOf(await ask({ authorization: 'x' }))).toBe('invalid_session')
    const thing = await ask({ authorization: thingToken })
    expect([thing.statusCode, reasonOf(thing)]).toEqual([403, 'forbidden'])
  })
})

describe('/v2/admin/things', () => {
  it('creates, lists, renames and removes things', async () => {
    const host = await openHost()
    const ask = asked(host)
    const made = await ask('POST', 'things', { name: 'pump' })
    expect(made.statusCode).toBe(201)
    expect(Object.keys(made.json())).toEqual(['status', 'thingId', 'thingToken'])
    const { status, thingId, thingToken } = made.json()
    expect(status).toBe('created')
    expect((await ask('PATCH', `things/${thingId}`, { name: 'Pump 2' })).body).toBe('{"status":"success"}')
    const { things } = (await ask('GET', 'things?name=pump')).json()
    expect(things).toEqual([{ thingId, name: 'Pump 2', createdAt: expect.any(String), lastSeen: null }])
    expect(new Date(things[0].createdAt).toISOString()).toBe(things[0].createdAt)
    expect((await ask('DELETE', `things/${thingId}`)).body).toBe('{"status":"success"}')
    expect(reasonOf(await host.inject({ url: `/v2/things/${thingToken}/resources` }))).toBe(
      'unknown_thing_token',
    )
    expect(reasonOf(await ask('DELETE', `things/${thingId}`))).toBe('unknown_thing')
    expect(reasonOf(await ask('PATCH', 'things/x', { name: '' }))).toBe('unknown_thing')
  })

  it('pages through the list, and shows when a thing was seen', async () => {
    const host = await openHost()
    const ask = asked(host)
    await host.write({ key: '$geo', value: [2, 41] })
    for (let thing = 0; thing < 4; thing++) await ask('POST', 'things')
    const first = (await ask('GET', 'things?limit=3')).json()
    const second = (await ask('GET', `things?limit=3&cursor=${encodeURIComponent(first.next)}`)).json()
    expect(first.things).toHaveLength(3)
    expect(second.things).toHaveLength(2)
    expect(second.next).toBeUndefined()
    const all = [...first.things, ...second.things]
    const seen = all.find(({ thingId }) => thingId === host.thingId)
    expect(new Date(seen.lastSeen).toISOString()).toBe(seen.lastSeen)
  })

  it.each([
    ['limit=0', 'invalid_limit'],
    ['cursor=%00', 'invalid_cursor'],
    ['bbox=1,2,3', 'invalid_query'],
    ['bbox=1,2,3,4,5', 'invalid_query'],
    ['bbox=1,2,3,x', 'invalid_query'],
    ['bbox=1,2,3,91', 'invalid_query'],
    ['bbox=-181,2,3,4', 'invalid_query'],
    ['bbox=1,5,3,4', 'invalid_query'],
  ])('refuses ?%s', async (query, reason) => {
    expect(reasonOf(await asked(await openHost())('GET', `things?${query}`))).toBe(reason)
  })

  it('takes a box across the 180th meridian', async () => {
    const answer = await asked(await openHost())('GET', 'things?bbox=170,-10.5,-170,10.5')
    expect(answer.json()).toEqual({ things: [] })
  })

  it.each([{ name: 1 }, { name: 'x'.repeat(201) }, '[]', '"x"'])('refuses to create from %j', async body => {
    expect(reasonOf(await asked(await openHost())('POST', 'things', body))).toBe('invalid_body')
  })
})

describe('/v2/admin/things/<id>/tokens', () => {
  it('rotates tokens', async () => {
    const host = await openHost()
    const ask = asked(host)
    const made = await ask('POST', `things/${host.thingId}/tokens`)
    expect(made.statusCode).toBe(201)
    const { thingToken, tokenId } = made.json()
    const { tokens } = (await ask('GET', `things/${host.thingId}/tokens`)).json()
    expect(tokens).toHaveLength(2)
    expect(tokens[1]).toEqual({ tokenId, createdAt: expect.any(String), used: false })
    expect(JSON.stringify(tokens)).not.toContain(thingToken)
    expect((await ask('DELETE', `things/${host.thingId}/tokens/${tokens[0].tokenId}`)).statusCode).toBe(200)
    expect(reasonOf(await host.inject({ url: `${host.path}/resources` }))).toBe('unknown_thing_token')
    expect((await host.inject({ url: `/v2/things/${thingToken}/resources` })).statusCode).toBe(200)
    expect(reasonOf(await ask('DELETE', `things/${host.thingId}/tokens/x`))).toBe('not_found')
  })
})

describe('/v2/admin/activation-codes', () => {
  it('makes, lists and removes codes', async () => {
    const ask = asked(await openHost())
    const made = await ask('POST', 'activation-codes', { count: 2, uses: 3 })
    expect(made.statusCode).toBe(201)
    const { activationCodes } = made.json()
    expect(activationCodes).toHaveLength(2)
    const listed = (await ask('GET', 'activation-codes')).json().activationCodes
    expect(listed).toHaveLength(2)
    expect(listed[0]).toEqual({
      activationCode: expect.stringMatching(/^[A-Za-z0-9_-]{34}$/),
      createdAt: expect.any(String),
      usesLeft: 3,
    })
    expect((await ask('DELETE', `activation-codes/${activationCodes[0]}`)).statusCode).toBe(200)
    expect(reasonOf(await ask('DELETE', `activation-codes/${activationCodes[0]}`))).toBe('not_found')
    expect((await ask('DELETE', 'activation-codes')).statusCode).toBe(405)
  })

  it.each([{ count: 0 }, { count: 1001 }, { count: 1.5 }, { uses: 0 }, { uses: 1_000_001 }, { uses: '2' }])(
    'refuses %j and names the field',
    async body => {
      const answer = await asked(await openHost())('POST', 'activation-codes', body)
      expect(reasonOf(answer)).toBe('invalid_body')
      expect(answer.json().message).toContain(Object.keys(body)[0])
    },
  )
})

describe('POST /v2/admin/backup', () => {
  it('streams the copy as a file', async () => {
    const chunk = Buffer.alloc(700_000, 7)
    const host = await openHost({ driver: storeWithBackup([chunk, chunk, chunk]) })
    const answer = await asked(host)('POST', 'backup')
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('application/octet-stream')
    expect(answer.headers['content-disposition']).toMatch(
      /^attachment; filename="thingwire-\d{8}T\d{6}Z\.backup"$/,
    )
    expect(answer.rawPayload.equals(Buffer.concat([chunk, chunk, chunk]))).toBe(true)
  })

  it('is refused by a store that has none', async () => {
    const answer = await asked(await openHost())('POST', 'backup')
    expect(reasonOf(answer)).toBe('not_found')
    expect(answer.headers['content-disposition']).toBeUndefined()
  })
})

function storeWithBackup(chunks: readonly Uint8Array[]): StoreDriver {
  async function* backup() {
    yield* chunks
  }
  return { ...createMemoryStore(), backup }
}
