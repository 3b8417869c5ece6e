import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createToken } from '../../../src/core/token.ts'
import { asAdmin, connectTo, openHost, postText, reasonOf } from '../host.ts'

const body = { values: [{ key: 'temperature', value: 21.5 }] }

describe('POST /v2/things/<ref>', () => {
  it('answers 201 with compact JSON, its length and nothing superfluous', async () => {
    const { inject, path } = await openHost()
    const answer = await inject({ method: 'POST', url: path, body })
    expect(answer.statusCode).toBe(201)
    expect(answer.body).toBe('{"status":"created","message":"created"}')
    expect(Object.keys(answer.headers).sort()).toEqual([
      'connection',
      'content-length',
      'content-type',
      'date',
    ])
    expect(answer.headers['content-type']).toBe('application/json')
    expect(answer.headers['content-length']).toBe('40')
  })

  it('ends the connection, and nothing else, where a hook of the host has begun an answer of its own', async () => {
    const { app, path, inject } = await openHost({
      prepare: host => {
        host.addHook('onSend', (request, reply, _payload, done) => {
          if (request.headers['x-own'] !== undefined) reply.raw.writeHead(200).write('own')
          done()
        })
      },
    })
    expect((await inject({ method: 'POST', url: path, body })).statusCode).toBe(201)
    const connection = await connectTo(app)
    connection.send(postText(path, body, 'X-Own: 1\r\n'))
    expect(await connection.closed()).not.toContain('created')
    expect((await inject({ method: 'POST', url: path, body })).statusCode).toBe(201)
  })

  it('takes a thing id with a credential of that thing', async () => {
    const { inject, thingId, thingToken } = await openHost()
    const url = `/v2/things/${thingId}`
    for (const authorization of [
      thingToken,
      `Bearer ${thingToken}`,
      `bEARER  ${thingToken}`,
      asAdmin.authorization,
    ]) {
      const answer = await inject({ method: 'POST', url, body, headers: { authorization } })
      expect(answer.statusCode).toBe(201)
    }
    expect(reasonOf(await inject({ method: 'POST', url, body }))).toBe('missing_credential')
    const headers = { authorization: `Bearer ${createToken()}` }
    expect(reasonOf(await inject({ method: 'POST', url, body, headers }))).toBe('invalid_session')
  })

  it('refuses an unknown token', async () => {
    const { inject } = await openHost()
    const answer = await inject({ method: 'POST', url: `/v2/things/${createToken()}`, body })
    expect(answer.statusCode).toBe(401)
    expect(reasonOf(answer)).toBe('unknown_thing_token')
  })

  it('names every bad record and keeps nothing', async () => {
    const { inject, path } = await openHost()
    const values = [{ key: 'a', value: 1 }, { key: 'b b', value: 1 }, { key: 'c' }]
    const answer = await inject({ method: 'POST', url: path, body: { values } })
    expect(reasonOf(answer)).toBe('invalid_key')
    expect(answer.json().errors).toMatchObject([
      { index: 1, field: 'key', reason: 'invalid_key' },
      { index: 2, field: 'value', reason: 'invalid_value' },
    ])
    expect((await inject({ url: `${path}/resources` })).json()).toEqual({ resources: [] })
  })

  it('names what a partial write left out', async () => {
    const { inject, path } = await openHost()
    const values = [
      { key: 'a', value: 1 },
      { key: 'b b', value: 1 },
    ]
    const answer = await inject({ method: 'POST', url: `${path}?partial=1`, body: { values } })
    expect(answer.statusCode).toBe(201)
    expect(answer.json().rejected).toMatchObject([{ index: 1, field: 'key', reason: 'invalid_key' }])
  })

  it.each(['true', 'FALSE', '1', '0', 'True'])('reads the flag %s', async flag => {
    const { inject, path } = await openHost()
    const url = `${path}?store=${flag}&broadcast=${flag}&partial=${flag}&unknown=%zz`
    expect((await inject({ method: 'POST', url, body })).statusCode).toBe(201)
    const stored = (await inject({ url: `${path}/resources` })).json().resources
    expect(stored).toEqual(/true|1/i.test(flag) ? ['temperature'] : [])
  })

  it.each(['store=yes', 'broadcast=', 'partial', 'store=true&store=true', 'store=2'])(
    'refuses the flag in ?%s',
    async query => {
      const { inject, path } = await openHost()
      const answer = await inject({ method: 'POST', url: `${path}?${query}`, body })
      expect(answer.statusCode).toBe(400)
      expect(reasonOf(answer)).toBe('invalid_query')
    },
  )

  it('takes Idempotency-Key for the write id, with the same one in the body or none', async () => {
    const { inject, path } = await openHost()
    const headers = { 'idempotency-key': 'a' }
    const first = { id: 'a', values: [{ key: 'k', value: 1 }] }
    const again = { values: [{ key: 'k', value: 2 }] }
    await inject({ method: 'POST', url: path, body: first, headers })
    expect((await inject({ method: 'POST', url: path, body: again, headers })).statusCode).toBe(201)
    const stored = (await inject({ url: `${path}/resources/k?limit=9` })).json()
    expect(stored).toMatchObject([{ value: 1 }])
    const other = { 'idempotency-key': 'c' }
    const both = await inject({ method: 'POST', url: path, body: { ...again, id: 'b' }, headers: other })
    expect(reasonOf(both)).toBe('invalid_write_id')
    for (const id of ['', 'x'.repeat(65), 'é']) {
      const answer = await inject({ method: 'POST', url: path, body, headers: { 'idempotency-key': id } })
      expect(reasonOf(answer)).toBe('invalid_write_id')
    }
  })
})

describe('the body of a write', () => {
  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/octet-stream',
    'json',
    ';;',
    '\t',
    '"',
  ])('is JSON under Content-Type %j', async contentType => {
    const { inject, path } = await openHost()
    const headers = { 'content-type': contentType }
    const answer = await inject({ method: 'POST', url: path, body: JSON.stringify(body), headers })
    expect(answer.statusCode).toBe(201)
  })

  it.each([
    'application/msgpack',
    'application/x-msgpack',
    'application/vnd.msgpack',
    'application/CBOR; a=b',
    'application/senml+cbor',
    'application/x-protobuf',
    'application/vnd.google.protobuf',
    'multipart/form-data; boundary=x',
    'image/png',
  ])('is refused under Content-Type %s', async contentType => {
    const { inject, path } = await openHost()
    const headers = { 'content-type': contentType }
    const answer = await inject({ method: 'POST', url: path, body: JSON.stringify(body), headers })
    expect(answer.statusCode).toBe(415)
    expect(reasonOf(answer)).toBe('unsupported_media_type')
  })

  it('may be gzip', async () => {
    const { inject, path } = await openHost()
    for (const encoding of ['gzip', 'x-gzip', 'GZIP']) {
      const headers = { 'content-encoding': encoding }
      const answer = await inject({
        method: 'POST',
        url: path,
        body: gzipSync(JSON.stringify(body)),
        headers,
      })
      expect(answer.statusCode).toBe(201)
    }
  })

  it('is refused when it is not the encoding it claims to be', async () => {
    const { inject, path } = await openHost()
    const post = async (encoding: string, bytes: Buffer) =>
      await inject({ method: 'POST', url: path, body: bytes, headers: { 'content-encoding': encoding } })
    const whole = gzipSync(JSON.stringify(body))
    expect(reasonOf(await post('gzip', Buffer.from('{}')))).toBe('invalid_content_encoding')
    expect(reasonOf(await post('gzip', whole.subarray(0, -9)))).toBe('invalid_content_encoding')
    const unknown = await post('br', whole)
    expect(unknown.statusCode).toBe(415)
    expect(reasonOf(unknown)).toBe('unsupported_encoding')
  })

  it('holds its limit before and after inflating, to the byte', async () => {
    const { inject, path } = await openHost({ plugin: { bodyLimit: 1000 } })
    const sized = (bytes: number) => JSON.stringify(body).padEnd(bytes)
    const headers = { 'content-encoding': 'gzip' }
    const post = async (bytes: number) => await inject({ method: 'POST', url: path, body: sized(bytes) })
    const postGzip = async (bytes: number) =>
      await inject({ method: 'POST', url: path, body: gzipSync(sized(bytes)), headers })
    expect((await post(1000)).statusCode).toBe(201)
    expect((await postGzip(1000)).statusCode).toBe(201)
    for (const answer of [await post(1001), await postGzip(1001)]) {
      expect(answer.statusCode).toBe(413)
      expect(reasonOf(answer)).toBe('body_too_large')
    }
  })

  it('has the limit of the host if the plugin has none', async () => {
    const { inject, path } = await openHost({ fastify: { bodyLimit: 100 } })
    const answer = await inject({ method: 'POST', url: path, body: JSON.stringify(body).padEnd(101) })
    expect(reasonOf(answer)).toBe('body_too_large')
  })

  it('is missing: refused like any other that is not JSON', async () => {
    const { inject, path } = await openHost()
    expect(reasonOf(await inject({ method: 'POST', url: path }))).toBe('invalid_json')
  })
})
