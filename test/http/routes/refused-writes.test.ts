import { describe, expect, it } from 'vitest'
import { asAdmin, openHost, reasonOf } from '../host.ts'

describe('GET …/errors', () => {
  it('lists refused writes, newest first', async () => {
    const { inject, path, thingId } = await openHost()
    await inject({ method: 'POST', url: path, body: '{' })
    await inject({ method: 'POST', url: path, body: { id: 'w', values: [{ key: 'a b', value: 1 }] } })
    const answer = await inject({ url: `${path}/errors` })
    expect(answer.statusCode).toBe(200)
    const [second, first] = answer.json()
    expect(Object.keys(second)).toEqual(['datetime', 'door', 'reason', 'message', 'errors', 'id', 'excerpt'])
    expect(second).toMatchObject({ door: 'http', reason: 'invalid_key', id: 'w', errors: [{ index: 0 }] })
    expect(new Date(second.datetime).toISOString()).toBe(second.datetime)
    expect(first).toMatchObject({ reason: 'invalid_json', excerpt: '{' })
    const newest = await inject({ url: `/v2/things/${thingId}/errors?limit=1`, headers: asAdmin })
    expect(newest.json()).toEqual([second])
    expect(reasonOf(await inject({ url: `${path}/errors?limit=0` }))).toBe('invalid_limit')
  })

  it('lists writes that were refused before their body was read', async () => {
    const { inject, path } = await openHost({ plugin: { bodyLimit: 1024 } })
    const refused = [
      { url: `${path}?store=maybe`, body: '{}' },
      { url: path, body: 'x'.repeat(1025) },
      { url: path, body: '{}', headers: { 'content-type': 'application/msgpack' } },
      { url: path, body: '{}', headers: { 'content-encoding': 'br' } },
      { url: path, body: '{}', headers: { 'content-encoding': 'gzip' } },
    ]
    const reasons = []
    for (const write of refused) reasons.unshift(reasonOf(await inject({ method: 'POST', ...write })))
    expect(reasons).toContain('body_too_large')
    const listed = (await inject({ url: `${path}/errors` })).json() as { reason: string; excerpt: string }[]
    expect(listed.map(({ reason }) => reason)).toEqual(reasons)
    expect(listed.map(({ excerpt }) => excerpt).reverse()).toEqual([
      '{}',
      expect.any(String),
      '{}',
      '{}',
      '{}',
    ])
  })

  it('shows no token that was used as a write id', async () => {
    const { inject, path, thingToken } = await openHost()
    const headers = { 'idempotency-key': thingToken }
    await inject({ method: 'POST', url: path, headers, body: { values: [{ key: 'a b', value: 1 }] } })
    const answer = await inject({ url: `${path}/errors` })
    expect(answer.json()).toMatchObject([{ id: '[redacted]' }])
    expect(answer.body).not.toContain(thingToken)
  })

  it('gives 100 unless asked for fewer', async () => {
    const { inject, path } = await openHost()
    for (let write = 0; write < 101; write++) await inject({ method: 'POST', url: path, body: '{' })
    expect((await inject({ url: `${path}/errors` })).json()).toHaveLength(100)
    expect((await inject({ url: `${path}/errors?limit=1000` })).json()).toHaveLength(100)
  })
})
