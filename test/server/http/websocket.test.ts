import { once } from 'node:events'
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { eventOf } from '../../helpers/event-of.ts'
import { createThing, type Thing } from '../../helpers/http-client.ts'
import { connectMqtt, encodePackets } from '../../helpers/mqtt-client.ts'
import { serverOfTest } from '../../helpers/of-test.ts'
import { type ServerProcess, startServer } from '../../helpers/server-process.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

const allowedOrigin = 'https://dashboard.example'
const maxPacketSize = 4_096

describe('an upgrade to WebSocket', () => {
  let server: ServerProcess
  let thing: Thing

  beforeAll(async () => {
    server = await startServer({
      dataDir: await temporaryDirectory(remove => void afterServer.push(remove)),
      args: ['--allowed-origins', allowedOrigin, '--max-packet-size', `${maxPacketSize}`],
    })
    thing = await createThing(server)
    return async () => {
      await server.kill()
      for (const remove of afterServer) await remove()
    }
  })
  const afterServer: (() => Promise<void>)[] = []

  it.each([
    ['mqtt', '/mqtt'],
    ['mqttv3.1', '/mqtt'],
    ['chat, mqtt', '/mqtt'],
    ['mqtt', '/mqtt/'],
    ['mqtt', '/mqtt?from=dashboard'],
    ['mqtt', '//mqtt'],
  ])('with subprotocol %s at %s is accepted', async (offered, path) => {
    const { status, headers } = await upgrade(server, {
      path,
      headers: { 'sec-websocket-protocol': offered },
    })
    expect(status).toBe(101)
    expect(headers['sec-websocket-protocol']).toBe(offered.replace('chat, ', ''))
  })

  it.each([
    ['without subprotocol', { 'sec-websocket-protocol': undefined }, 400, 'bad_request'],
    ['with another subprotocol', { 'sec-websocket-protocol': 'chat' }, 400, 'bad_request'],
    ['with one subprotocol twice', { 'sec-websocket-protocol': 'mqtt, mqtt' }, 400, 'bad_request'],
    ['without key', { 'sec-websocket-key': undefined }, 400, 'bad_request'],
    ['with a version that nobody speaks', { 'sec-websocket-version': '7' }, 400, 'bad_request'],
    ['from an origin that is not allowed', { origin: 'https://other.example' }, 403, 'forbidden'],
  ])('%s is refused', async (_case, headers, status, reason) => {
    const answer = await upgrade(server, { headers })
    expect(answer).toMatchObject({
      status,
      headers: {
        'content-type': 'application/json',
        'content-length': `${Buffer.byteLength(answer.body)}`,
        connection: 'close',
      },
    })
    expect(JSON.parse(answer.body)).toMatchObject({ status: 'error', code: status, reason })
  })

  it('carries each packet of the server in one message', async () => {
    const webSocket = new WebSocket(`${server.url.replace('http', 'ws')}/mqtt`, 'mqtt')
    await once(webSocket, 'open')
    webSocket.send(encodePackets({ cmd: 'connect', clientId: 'small', username: thing.thingToken }))
    const [message] = (await once(webSocket, 'message')) as [Buffer]
    expect([...message]).toEqual([0x20, 2, 0, 0])
    webSocket.terminate()
  })

  it('from an allowed origin is accepted', async () => {
    expect(await upgrade(server, { headers: { origin: allowedOrigin } })).toMatchObject({ status: 101 })
  })

  it.each([
    '/',
    '/?clientId=a',
    '/mqttt',
    '/mqtt/more',
    '/MQTT',
    '/v2',
    '/v2/mqtt',
    '/ws',
    '/websocket',
    '/docs',
    '/healthz',
    '/v2/things/<token>',
    '/dashboard.json',
  ])('at %s is told where it belongs', async path => {
    const { body, status, headers } = await upgrade(server, {
      path: path.replace('<token>', thing.thingToken),
    })
    expect({ status, upgrade: headers.upgrade }).toEqual({ status: 426, upgrade: 'websocket' })
    expect(JSON.parse(body)).toMatchObject({
      reason: 'websocket_elsewhere',
      message: 'MQTT over WebSocket is at /mqtt, not at this path',
    })
  })

  it.each([
    { upgrade: undefined },
    { upgrade: 'h2c' },
    { upgrade: 'websocket, h2c' },
    { connection: undefined },
  ])(
    'that a proxy has taken away from a request for /mqtt is named, with what the proxy must do: %o',
    async headers => {
      const { body, status } = await upgrade(server, { headers })
      expect(status).toBe(426)
      expect(JSON.parse(body).message).toContain('a proxy')
    },
  )

  it('to another protocol is ignored: the request is served', async () => {
    const body = '{"values":[{"key":"n","value":1}]}'
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.end(
      [
        `POST /v2/things/${thing.thingToken} HTTP/1.1`,
        'Connection: Upgrade, HTTP2-Settings',
        'Upgrade: h2c',
        'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA',
        `Content-Length: ${body.length}`,
        '',
        body,
      ].join('\r\n'),
    )
    expect(await text(socket)).toMatch(/^HTTP\/1.1 201 /)
  })

  it('with 2,000 headers does not end the process', async () => {
    const many = Array.from({ length: 2_000 }, (_, place) => `${place.toString(36)}:`)
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.end(['GET /mqtt HTTP/1.1', ...many, ...handshakeLines(), '', ''].join('\r\n'))
    expect(await text(socket)).toMatch(/^HTTP\/1.1 4/)
    expect(await upgrade(server)).toMatchObject({ status: 101 })
  })

  it.each([
    ['accepted', handshakeLines()],
    ['refused', handshakeLines().slice(0, -1)],
  ])('of a client that is gone before it is %s does not end the process', async (_case, lines) => {
    for (let times = 0; times < 20; times++) {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => {})
      const closed = eventOf(socket, 'close')
      await once(socket, 'connect')
      socket.write(['GET /mqtt HTTP/1.1', ...lines, '', ''].join('\r\n'), () => socket.resetAndDestroy())
      await closed
    }
    expect(await upgrade(server)).toMatchObject({ status: 101 })
  })

  it('at a server that is stopping is refused', async () => {
    const stopping = await serverOfTest()
    const socket = connect(Number(new URL(stopping.url).port), '127.0.0.1')
    // With the beginning of the upgrade read, the connection is none that is idle.
    socket.write('GET /healthz HTTP/1.1\r\n\r\nGET /mqtt HTTP/1.1\r\n')
    await once(socket, 'data')
    stopping.process.kill('SIGTERM')
    await stopping.logged(/"stopping"/)
    socket.write([...handshakeLines(), '', ''].join('\r\n'))
    const answer = await text(socket)
    expect(answer).toMatch(/^HTTP\/1.1 503 /)
    expect(answer).toMatch(/^Retry-After: \d+\r$/m)
    expect(answer).toContain('"reason":"draining"')
    expect(await stopping.exited).toMatchObject({ code: 0, signal: null })
  })

  describe('that was accepted', () => {
    it('carries MQTT', async () => {
      const { webSocketUrl: url } = server
      const client = await connectMqtt({ url, username: thing.thingToken })
      expect(client.connack.returnCode).toBe(0)
      await client.publish(`things/${thing.thingToken}/write`, { values: [{ key: 'ws', value: 1 }] })
      await client.disconnect()
    })

    it('takes several packets in one message, and one packet in several', async () => {
      const webSocket = await openWebSocket(server)
      const packets = encodePackets(connectPacket(thing), { cmd: 'pingreq' }, { cmd: 'pingreq' })
      webSocket.send(packets.subarray(0, 5))
      webSocket.send(packets.subarray(5))
      expect((await received(webSocket, 8)).toString('hex')).toBe('20020000d000d000')
      webSocket.terminate()
    })

    it('takes a message as large as two of the largest packets', async () => {
      const webSocket = await openWebSocket(server)
      webSocket.send(encodePackets(connectPacket(thing)))
      await received(webSocket, 4)
      const ping = encodePackets({ cmd: 'pingreq' })
      webSocket.send(Buffer.alloc(2 * maxPacketSize, ping))
      await received(webSocket, 2 * maxPacketSize)
      webSocket.terminate()
    })

    it('is closed when a larger message is announced, also if its client would keep it', async () => {
      const stopping = await serverOfTest()
      const socket = connect({ port: Number(new URL(stopping.url).port), allowHalfOpen: true })
      onTestFinished(() => void socket.destroy())
      socket.write(['GET /mqtt HTTP/1.1', ...handshakeLines(), '', ''].join('\r\n'))
      await once(socket, 'data')
      socket.write(messageHead(2 * 1_048_576 + 1))
      const answer: Buffer[] = []
      socket.on('data', part => answer.push(part))
      await once(socket, 'end')
      // A close message with status 1009, too big.
      expect(Buffer.concat(answer).toString('hex')).toBe('880203f1')
      expect(await stopping.stop()).toMatchObject({ code: 0, signal: null })
    })

    it('is closed at a text message, which is not read', async () => {
      const webSocket = await openWebSocket(server)
      const answers: unknown[] = []
      webSocket.on('message', part => answers.push(part))
      const { username: _, ...anonymous } = connectPacket(thing)
      // Without a byte that UTF-8 would spell in two.
      webSocket.send(encodePackets(anonymous).toString('latin1'), { binary: false })
      await eventOf(webSocket, 'close')
      expect(answers).toEqual([])
    })
  })
})

function connectPacket({ thingToken }: Thing) {
  return {
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: 4,
    clientId: 'web-socket-test',
    clean: true,
    keepalive: 0,
    username: thingToken,
  } as const
}

async function openWebSocket({ webSocketUrl }: ServerProcess): Promise<WebSocket> {
  const webSocket = new WebSocket(webSocketUrl, ['mqtt']).on('error', () => {})
  await once(webSocket, 'open')
  return webSocket
}

/** Resolves with the first bytes that come from now on, when there are so many. */
function received(webSocket: WebSocket, length: number): Promise<Buffer> {
  return new Promise(resolve => {
    let bytes = Buffer.alloc(0)
    const take = (part: Buffer) => {
      bytes = Buffer.concat([bytes, part])
      if (bytes.length < length) return
      webSocket.off('message', take)
      resolve(bytes)
    }
    webSocket.on('message', take)
  })
}

/** What a binary message of so many bytes begins with, its mask included. */
function messageHead(length: number): Buffer {
  const head = Buffer.alloc(14)
  head.writeUInt16BE(0x82ff)
  head.writeBigUInt64BE(BigInt(length), 2)
  return head
}

const handshake = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-key': Buffer.alloc(16, 1).toString('base64'),
  'sec-websocket-version': '13',
  'sec-websocket-protocol': 'mqtt',
}

function handshakeLines(): string[] {
  return Object.entries(handshake).map(([name, value]) => `${name}: ${value}`)
}

interface UpgradeSetup {
  readonly path?: string
  /** On top of a proper handshake; undefined leaves one out. */
  readonly headers?: Readonly<Record<string, string | undefined>>
}

interface UpgradeAnswer {
  readonly status: number | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** Asks to upgrade, and ends the connection after the answer. */
async function upgrade(
  { url }: ServerProcess,
  { path = '/mqtt', headers = {} }: UpgradeSetup = {},
): Promise<UpgradeAnswer> {
  const sent = Object.entries({ ...handshake, ...headers }).filter(([, value]) => value !== undefined)
  const { hostname, port } = new URL(url)
  const asking = request({ hostname, port, path, headers: Object.fromEntries(sent) as OutgoingHttpHeaders })
  asking.end()
  const [answer, body] = await new Promise<[IncomingMessage, string]>((resolve, reject) => {
    asking.once('error', reject)
    asking.once('upgrade', (answer, socket) => {
      socket.destroy()
      resolve([answer, ''])
    })
    asking.once('response', answer => text(answer).then(body => resolve([answer, body]), reject))
  })
  return { status: answer.statusCode, headers: answer.headers, body }
}
