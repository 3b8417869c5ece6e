import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, it } from 'vitest'
import { createServer, type Server } from '../../../src/server/index.ts'
import { createThing, readAll, type Thing } from '../../helpers/http-client.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

const body = '{"values":[{"key":"n","value":1}]}'

describe('the listener at lenientPort', () => {
  let server: Server
  let thing: Thing

  beforeAll(async () => {
    const afterAll: (() => Promise<void>)[] = []
    const dataDir = await temporaryDirectory(remove => void afterAll.push(remove))
    const ports = { httpPort: 0, mqttPort: 0, lenientPort: 0, minFreeSpace: 0, logLevel: 'silent' } as const
    server = await createServer({ dataDir, ...ports })
    thing = await createThing({ url: server.url, adminKey: server.adminKey.key })
    return async () => {
      await server.close()
      for (const remove of afterAll) await remove()
    }
  })

  it.each([
    ['the whole head', (token: string) => post(token, '\n', '\n')],
    ['the request line', (token: string) => post(token, '\n', '\r\n')],
    ['its headers', (token: string) => post(token, '\r\n', '\n')],
  ])('takes a write with bare LF in %s, which the other listener refuses', async (_case, request) => {
    const before = await count()
    const answer = await send(server.lenientUrl, request(thing.thingToken))
    expect(answer).toMatch(/^HTTP\/1.1 201 /)
    expect(await count()).toBe(before + 1)

    const refusal = await send(server.url, request(thing.thingToken))
    expect(refusal).toMatch(/^HTTP\/1.1 400 /)
    expect(refusal).toContain('"reason":"bad_request"')
    expect(await count()).toBe(before + 1)
  })

  it('answers in CRLF, and what is wrong as everywhere', async () => {
    const unknown = await send(server.lenientUrl, 'GET /nowhere HTTP/1.1\nHost: a\n\n')
    expect(unknown).toMatch(/^HTTP\/1.1 404 Not Found\r\n/)
    expect(unknown).toContain('"reason":"not_found"')
    const garbage = await send(server.lenientUrl, 'what is this?\n\n')
    expect(garbage).toMatch(/^HTTP\/1.1 400 /)
    expect(garbage).toContain('"reason":"bad_request"')
  })

  // What docs/use/tls.md says of Node's parser: it may change with Node.
  it.each([
    ['a version that does not exist', 'GET /healthz HTTP/1.7\r\nHost: a\r\n\r\n', 200],
    ['a control character in a header', 'GET /healthz HTTP/1.1\r\nHost: a\x01\r\n\r\n', 200],
    ['CR alone', 'GET /healthz HTTP/1.1\rHost: a\r\r', 400],
    ['a space before the colon of a header', 'GET /healthz HTTP/1.1\nHost : a\n\n', 400],
    ['two lengths', 'POST /v2/things HTTP/1.1\nContent-Length: 2\nContent-Length: 2\n\n{}', 400],
    ['a method in small letters', 'get /healthz HTTP/1.1\nHost: a\n\n', 400],
  ])('answers %s as docs/use/tls.md says', async (_case, request, status) => {
    expect(await send(server.lenientUrl, request)).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  })

  it('takes well-formed requests as the other one does', async () => {
    const answer = await send(server.lenientUrl, post(thing.thingToken, '\r\n', '\r\n'))
    expect(answer).toMatch(/^HTTP\/1.1 201 /)
  })

  async function count(): Promise<number> {
    return (await readAll({ url: server.url, adminKey: server.adminKey.key }, thing, 'n').catch(() => []))
      .length
  }
})

describe('a server without lenientPort', () => {
  it('has no such listener', async () => {
    const options = { dataDir: await temporaryDirectory(), httpPort: 0, mqttPort: 0 }
    const server = await createServer({ ...options, logLevel: 'silent' })
    expect(server.lenientUrl).toBeUndefined()
    await server.close()
  })
})

function post(token: string, endOfLine: string, endOfHeader: string): string {
  const headers = [`Content-Length: ${body.length}`, 'Connection: close', '']
  return `POST /v2/things/${token} HTTP/1.1${endOfLine}${headers.join(endOfHeader)}${endOfHeader}${body}`
}

/** Sends it, closes its half of the connection, and waits for the rest of the answer. */
async function send(url: string | undefined, request: string): Promise<string> {
  const { hostname, port } = new URL(url ?? '')
  const socket = connect(Number(port), hostname)
  socket.end(request)
  return await text(socket)
}
