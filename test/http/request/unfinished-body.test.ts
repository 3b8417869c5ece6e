import { describe, expect, it } from 'vitest'
import { connectTo, type Host, openHost, postText } from '../host.ts'

const body = '{"values":[{"key":"e","value":1}]}'
const size = Buffer.byteLength(body)

/** The thing's refused writes when there is one. */
async function refusals({ inject, path }: Host): Promise<object[]> {
  await expect.poll(async () => (await inject({ url: `${path}/errors` })).json().length).toBe(1)
  return (await inject({ url: `${path}/errors` })).json()
}

describe('a request without Content-Length and chunks', () => {
  it.each([
    ['a body behind it', body],
    ['nothing behind it', ''],
    ['a line end behind it', '\r\n'],
  ])('that needs a body and has %s is told what is missing', async (_what, sent) => {
    const host = await openHost()
    const connection = await connectTo(host.app)
    connection.send(`POST ${host.path} HTTP/1.1\r\nHost: a\r\n\r\n${sent}`)
    const answer = await connection.received('}')
    expect(answer).toContain('HTTP/1.1 400')
    expect(answer).toContain(
      '"reason":"invalid_json","message":"the body is empty, it ends at position 0: is Content-Length missing?"',
    )
    expect(await refusals(host)).toMatchObject([
      { reason: 'invalid_json', message: expect.stringContaining('is Content-Length missing?') },
    ])
  })

  it.each([
    ['activation', 'things'],
    ['sessions of a thing', 'things/<ref>/sessions'],
  ])('is told so by %s, too', async (_what, path) => {
    const { app, thingToken } = await openHost()
    const connection = await connectTo(app)
    connection.send(
      `POST /v2/${path.replace('<ref>', thingToken)} HTTP/1.1\r\nHost: a\r\n\r\n{"access":"read"}`,
    )
    expect(await connection.received('}')).toContain('is Content-Length missing?')
  })

  it('is not told so if it says that its body is empty', async () => {
    const { app, path } = await openHost()
    const connection = await connectTo(app)
    connection.send(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`)
    const answer = await connection.received('}')
    expect(answer).toContain('it ends at position 0, where a value is expected')
    expect(answer).not.toContain('Content-Length missing')
  })
})

describe('a body that breaks off', () => {
  const announced = (length: number) => `Content-Length: ${length}\r\n\r\n`
  const chunked = 'Transfer-Encoding: chunked\r\n\r\n'
  const says = (length: number, came: number) =>
    `the body was cut off: Content-Length says ${length} bytes, ${came} arrived, ${length - came} are missing`

  it.each([
    ['2 bytes too few', announced(size + 2), body, says(size + 2, size)],
    ['1 byte too few', announced(size), body.slice(0, -1), says(size, size - 1)],
    ['nothing', announced(size), '', says(size, 0)],
    ['half', announced(size), body.slice(0, size / 2), says(size, size / 2)],
    [
      'bytes that are counted, not letters',
      announced(size + 9),
      body.replace('e', 'ä'),
      says(size + 9, size + 1),
    ],
    [
      'no last chunk',
      chunked,
      `${size.toString(16)}\r\n${body}\r\n`,
      `the body was cut off: its last chunk is missing, ${size} bytes arrived`,
    ],
    [
      'half a chunk',
      chunked,
      `${size.toString(16)}\r\n${body.slice(0, 10)}`,
      'the body was cut off: its last chunk is missing, 10 bytes arrived',
    ],
  ])('is refused with what is missing of it: %s', async (_what, head, sent, missing) => {
    const host = await openHost()
    const connection = await connectTo(host.app)
    connection.socket.end(`POST ${host.path} HTTP/1.1\r\nHost: a\r\n${head}${sent}`)
    const [first] = await refusals(host)
    expect(first).toMatchObject({
      reason: 'bad_request',
      message: missing,
      excerpt: expect.stringContaining(sent.includes(body) ? body : ''),
    })
  })

  it('is noted as well where the connection is gone', async () => {
    const host = await openHost()
    const connection = await connectTo(host.app)
    connection.send(`POST ${host.path} HTTP/1.1\r\nHost: a\r\n${announced(size)}{"values`)
    await turnsUntilReceived(host)
    connection.socket.resetAndDestroy()
    expect(await refusals(host)).toMatchObject([
      { reason: 'bad_request', message: says(size, 8), excerpt: '{"values' },
    ])
  })

  it('is answered where the client still reads', async () => {
    const { app, path } = await openHost()
    const connection = await connectTo(app)
    connection.socket.end(`POST ${path} HTTP/1.1\r\nHost: a\r\n${announced(size)}{`)
    const answer = await connection.closed()
    expect(answer).toMatch(/^HTTP\/1.1 400 /)
    expect(answer).toContain(says(size, 1))
    expect(answer.split('HTTP/1.1').length - 1).toBe(1)
  })

  it('leaves what came before it on the connection as it is', async () => {
    const host = await openHost()
    const connection = await connectTo(host.app)
    const first = postText(host.path, { values: [{ key: 'k', value: 1 }] })
    connection.socket.end(`${first}POST ${host.path} HTTP/1.1\r\nHost: a\r\n${announced(size)}{`)
    const received = await connection.closed()
    expect(received).toMatch(/^HTTP\/1.1 201 /)
    expect((await host.inject({ url: `${host.path}/resources/k` })).json()).toMatchObject([{ value: 1 }])
    expect(await refusals(host)).toHaveLength(1)
  })
})

describe('a body that announces more than bodyLimit', () => {
  const limit = 1_024 * 1_024

  it.each([limit + 1, 20_000_000, Number.MAX_SAFE_INTEGER])(
    'is refused at once: Content-Length: %d',
    async length => {
      const host = await openHost()
      const connection = await connectTo(host.app)
      connection.send(`POST ${host.path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`)
      const answer = await connection.received('}')
      expect(answer).toContain('HTTP/1.1 413')
      expect(answer).toContain(`the body must be at most ${limit} bytes: Content-Length says ${length}`)
      expect(await refusals(host)).toMatchObject([{ reason: 'body_too_large' }])
    },
  )

  it('goes by the limit of the host', async () => {
    const { app, path } = await openHost({ plugin: { bodyLimit: 2_000 } })
    const connection = await connectTo(app)
    connection.send(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 2001\r\n\r\n`)
    expect(await connection.received('}')).toContain('at most 2000 bytes: Content-Length says 2001')
  })

  it('is read to its end: the connection goes on behind it', async () => {
    const { app, path } = await openHost()
    const connection = await connectTo(app)
    connection.send(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${limit + 1}\r\n\r\n`)
    await connection.received('body_too_large')
    connection.send('x'.repeat(limit + 1))
    connection.send(postText(path, { values: [{ key: 'k', value: 1 }] }))
    expect(await connection.received('"created"')).toContain('HTTP/1.1 201')
  })

  it('of exactly the limit is read', async () => {
    const { app, path } = await openHost()
    const connection = await connectTo(app)
    connection.send(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${limit}\r\n\r\n${body}`)
    connection.send(' '.repeat(limit - size))
    expect(await connection.received('"created"')).toContain('HTTP/1.1 201')
  })
})

/** Resolves when the server has the bytes of a request that is under way. */
async function turnsUntilReceived({ app }: Host): Promise<void> {
  await expect
    .poll(() => new Promise(resolve => app.server.getConnections((_, count) => resolve(count))))
    .toBe(1)
  for (let turn = 0; turn < 100; turn++) await new Promise(resolve => setImmediate(resolve))
}
