import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { createGate, observeStore } from '../mqtt/observed-store.ts'
import { connectTo, openHost, postText } from './host.ts'

const body = { values: [{ key: 'k', value: 1 }] }
const created = '{"status":"created","message":"created"}'

describe('hostOptions', () => {
  it('tolerates slashes and a dangling question mark', async () => {
    const { inject, thingToken } = await openHost()
    for (const url of [
      `/v2/things/${thingToken}/`,
      `//v2//things/${thingToken}`,
      `/v2/things/${thingToken}/?`,
    ]) {
      expect((await inject({ method: 'POST', url, body })).statusCode).toBe(201)
    }
  })

  it('tolerates a missing, a strange and an empty Host', async () => {
    const { app, path } = await openHost()
    for (const host of ['', 'Host: any thing\r\n', 'Host:\r\n']) {
      const connection = await connectTo(app)
      connection.send(postText(path, body).replace('Host: a\r\n', host))
      expect(await connection.received(created)).toContain('HTTP/1.1 201')
    }
  })

  it.each(['%zz', '%ff', '%', '%e2%28'])('names the %% of the path in which %s is no UTF-8', async text => {
    const { inject, path } = await openHost()
    const answer = await inject({ url: `${path}/resources/${text}` })
    expect(answer.json()).toMatchObject({ reason: 'bad_request', message: expect.stringContaining('%25') })
  })

  it('takes an Idempotency-Key that comes twice for one, and refuses two', async () => {
    const { app, path } = await openHost()
    for (const [other, answer] of [
      ['a', '201 Created'],
      ['b', 'invalid_write_id'],
    ] as const) {
      const connection = await connectTo(app)
      const keys = `Idempotency-Key: a\r\nIdempotency-Key: ${other}\r\n`
      connection.send(postText(path, body).replace('Host: a\r\n', keys))
      expect(await connection.received(answer)).toContain(answer)
    }
  })

  it('lets keys and settings paths be as long as they may', async () => {
    const { inject, path, write } = await openHost()
    const key = 'k'.repeat(128)
    const setting = `$settings.${Array.from({ length: 15 }, () => 'p'.repeat(64)).join('.')}`
    await write({ key, value: 1 }, { key: setting, value: 2 })
    expect((await inject({ url: `${path}/resources/${key}` })).json()).toMatchObject([{ value: 1 }])
    expect((await inject({ url: `${path}/resources/${setting}` })).json()).toMatchObject([{ value: 2 }])
  })

  it.each(['\r\n', 'junk', '}\r\n\r\n', '\0\0\0'])(
    'answers a request before it closes over %j after its body',
    async junk => {
      const gate = createGate()
      const driver = observeStore(createMemoryStore(), gate)
      const { app, path } = await openHost({ driver })
      const connection = await connectTo(app)
      connection.send(`${postText(path, body)}${junk}`)
      await driver.called(1)
      connection.send(junk)
      await turns(100)
      gate.open()
      const answer = await connection.received(created)
      expect(answer.startsWith('HTTP/1.1 201 Created')).toBe(true)
      if (junk === '\r\n') return
      expect(await connection.closed()).toBe(answer)
    },
  )

  it('answers every pipelined request before it closes over what follows', async () => {
    const gate = createGate()
    const driver = observeStore(createMemoryStore(), gate)
    const { app, path } = await openHost({ driver })
    const connection = await connectTo(app)
    connection.send(
      `${postText(path, body)}${postText(path, body)}GET ${path}/resources HTTP/1.1\r\nHost: a\r\n\r\njunk`,
    )
    await driver.called(2)
    gate.open()
    const received = await connection.closed()
    expect(received.split('HTTP/1.1 201').length - 1).toBe(2)
    expect(received).toContain('{"resources":')
    expect(received).not.toContain('HTTP/1.1 400')
  })

  it('answers bytes after the body of a request that closes', async () => {
    const { app, path } = await openHost()
    const connection = await connectTo(app)
    connection.send(`${postText(path, body, 'Connection: close\r\n')}junk`)
    expect(await connection.closed()).toContain(created)
  })

  it('answers what is no HTTP in the one error shape, and closes', async () => {
    const { app, path } = await openHost()
    const chunked = `POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`
    for (const bytes of ['nonsense\r\n\r\n', chunked]) {
      const connection = await connectTo(app)
      connection.send(bytes)
      const [head = '', json = ''] = (await connection.closed()).split('\r\n\r\n')
      expect(head).toContain('HTTP/1.1 400')
      expect(head).toContain('Content-Type: application/json')
      expect(JSON.parse(json)).toMatchObject({ status: 'error', code: 400, reason: 'bad_request' })
    }
  })

  it.each([
    ['cookies', `GET /v2/ HTTP/1.1\r\nHost: a\r\nCookie: ${'a=b; '.repeat(4_000)}\r\n\r\n`],
    ['a header', `GET /v2/ HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['headers', `GET /v2/ HTTP/1.1\r\n${'X-Some: header\r\n'.repeat(1_800)}\r\n`],
    ['the name of a header', `GET /v2/ HTTP/1.1\r\n${'x'.repeat(20_000)}: 1\r\n\r\n`],
    ['a path', `GET /v2/${'x'.repeat(20_000)} HTTP/1.1\r\n\r\n`],
    ['a query', `GET /v2/?${'x'.repeat(20_000)} HTTP/1.1\r\n\r\n`],
    [
      'the head of a write',
      `POST /v2/ HTTP/1.1\r\nCookie: ${'x'.repeat(20_000)}\r\nContent-Length: 2\r\n\r\n{}`,
    ],
  ])('answers 20 KB of %s with 431', async (_what, bytes) => {
    const { app } = await openHost()
    const connection = await connectTo(app)
    connection.send(bytes)
    const [head = '', json = ''] = (await connection.closed()).split('\r\n\r\n')
    expect(head).toContain('HTTP/1.1 431 Request Header Fields Too Large')
    expect(JSON.parse(json)).toMatchObject({ status: 'error', code: 431, reason: 'head_too_large' })
  })

  it('lets a client that sends far too much read the answer, and go on', async () => {
    const { app, path } = await openHost()
    const connection = await connectTo(app)
    connection.send(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 20000000\r\n\r\n`)
    connection.send('x'.repeat(20_000_000))
    expect(await connection.received('body_too_large')).toContain('HTTP/1.1 413')
    connection.send(postText(path, body))
    expect(await connection.received(created)).toContain('HTTP/1.1 201')
  })
})

/** Lets the event loop go round, so that what could happen has happened. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(resolve => setImmediate(resolve))
}
