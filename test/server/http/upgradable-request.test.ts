import { connect as connectTcp, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connectTls, startTls, type TlsService } from '../tls/tls-service.ts'

const body = '{"values":[{"key":"n","value":1}]}'
const size = body.length.toString(16)
const chunked = 'Transfer-Encoding: chunked'
const upgrades = {
  h2c: ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA'],
  websocket: ['Connection: Upgrade', 'Upgrade: websocket'],
}

describe.each(Object.entries(upgrades))('a request whose upgrade to %s is ignored', (_protocol, headers) => {
  it.each(['url', 'httpsUrl'] as const)('is served with a body in chunks at the %s', async listener => {
    const { service, socket } = await connect(listener)
    socket.end(write(service, [...headers, chunked], `${size}\r\n${body}\r\n0\r\n\r\n`))
    expect(await text(socket)).toMatch(/^HTTP\/1.1 201 /)
  })

  it.each([
    ['in chunks that are broken', chunked, `5\r\n${body}\r\n0\r\n\r\n`],
    ['in chunks without the last', chunked, `${size}\r\n${body}\r\n`],
    ['in a chunk that is cut short', chunked, `6b;a=b\r\n${body}\r\n0\r\n\r\n`],
    ['that is cut short', `Content-Length: ${body.length}`, body.slice(0, -1)],
    ['that does not come', `Content-Length: ${body.length}`, ''],
  ])('is refused once its client has closed its half behind a body %s', async (_case, length, sent) => {
    for (const listener of ['url', 'httpsUrl'] as const) {
      const { service, socket } = await connect(listener)
      const request = (more: readonly string[]) => write(service, [...more, length], sent)
      socket.end(request(headers))
      const answer = await text(socket)
      expect(answer).toMatch(/^HTTP\/1.1 400 [^{]*\r\nConnection: close\r\n\r\n\{[^{}]*\}$/)
      expect(answer).toContain('"reason":"bad_request"')
      const { socket: plain } = await connect(listener, service)
      plain.end(request([]))
      expect(answer).toBe(await text(plain))
    }
  })

  it('leaves no listener on its connection', async () => {
    const warnings: Error[] = []
    const warned = (warning: Error) => void warnings.push(warning)
    process.on('warning', warned)
    onTestFinished(() => void process.off('warning', warned))
    const { service, socket } = await connect('url')
    const request = write(service, [...headers, chunked], `${size}\r\n${body}\r\n0\r\n\r\n`)
    let answers = 0
    socket.on('data', part => {
      answers += `${part}`.split('HTTP/1.1 201 ').length - 1
      if (answers < 20) socket.write(request)
      else socket.end()
    })
    socket.write(request)
    await text(socket)
    expect({ answers, warnings }).toEqual({ answers: 20, warnings: [] })
  })
})

async function connect(
  listener: 'url' | 'httpsUrl',
  given?: TlsService,
): Promise<{ service: TlsService; socket: Socket }> {
  const service = given ?? (await startTls())
  if (listener === 'httpsUrl') {
    return { service, socket: await connectTls(service.server.httpsUrl, service.pair.cert) }
  }
  const { hostname, port } = new URL(service.server.url)
  const socket = connectTcp(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  return { service, socket }
}

function write({ thing }: TlsService, headers: readonly string[], sent: string): string {
  return [`POST /v2/things/${thing.thingToken} HTTP/1.1`, 'Host: a', ...headers, '', sent].join('\r\n')
}
