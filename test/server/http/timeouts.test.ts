import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { createToken } from '../../../src/core/token.ts'
import { type HttpDoor, openHttpDoor } from '../../../src/server/http/http-door.ts'
import { type HttpTimeouts, httpTimeouts } from '../../../src/server/http/http-server.ts'
import { openMqttServer } from '../../../src/server/mqtt-server.ts'
import { completeOptions } from '../../../src/server/options/load-options.ts'
import { ServedCertificate } from '../../../src/server/tls/served-certificate.ts'
import { openTlsListener } from '../../../src/server/tls/tls-listener.ts'
import { createLevelStore } from '../../../src/store/level/index.ts'
import { openThings, type ThingsParts } from '../../../src/things.ts'
import { createCertificate } from '../../helpers/certificate.ts'
import { CollectedLog } from '../../helpers/collected-log.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { certificateDirectory } from '../tls/tls-service.ts'

const pair = createCertificate()
const long = 3_600_000

describe('httpTimeouts()', () => {
  it('gives a head 30 s and a body 120 s, looked at every 2 s', () => {
    expect(httpTimeouts(5_000)).toMatchObject({ headers: 30_000, request: 120_000, check: 2_000 })
  })
})

describe.each(['url', 'secureUrl', 'lenientUrl'] as const)('the HTTP listener of %s', listener => {
  it('closes a connection that says nothing', async () => {
    const socket = await openConnection(listener, { headers: 200, request: long })
    await closed(socket)
  })

  it('closes a connection whose request head comes drop by drop', async () => {
    const socket = await openConnection(listener, { headers: 300, request: long })
    socket.write('GET /healthz HTTP/1.1\r\nX-Slow: ')
    drip(socket)
    expect(await closed(socket)).toMatch(/^(HTTP\/1.1 408 .*"reason":"request_timeout".*)?$/s)
  })

  it('closes a connection whose request body comes drop by drop', async () => {
    const socket = await openConnection(listener, { headers: 300, request: 600 })
    socket.write(`POST /v2/things HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n{"activationCode":"`)
    drip(socket)
    expect(await closed(socket)).toMatch(/^(HTTP\/1.1 408 .*"reason":"request_timeout".*)?$/s)
  })

  it('closes a connection whose second request does not come to an end', async () => {
    const socket = await openConnection(listener, { headers: 300, request: long })
    socket.write('GET /healthz HTTP/1.1\r\n\r\nGET /healthz HTTP/1.1\r\nX-Slow: ')
    drip(socket)
    expect(await closed(socket)).toMatch(/^HTTP\/1.1 200 /)
  })
})

describe('a body that does not come to its end in time', () => {
  const body = '{"values":[{"key":"e","value":1}]}'
  const size = body.length

  it.each([
    [
      '2 bytes too few',
      size + 2,
      body,
      `Content-Length says ${size + 2} bytes, ${size} arrived, 2 are missing`,
    ],
    [
      'half',
      size,
      body.slice(0, 17),
      `Content-Length says ${size} bytes, 17 arrived, ${size - 17} are missing`,
    ],
    ['nothing', 5, '', 'Content-Length says 5 bytes, 0 arrived, 5 are missing'],
  ])(
    'is answered with 408, and noted, and says what is missing: %s',
    async (_case, length, sent, missing) => {
      const { things, http } = await openDoor({ request: 300, headers: 300 })
      const { thingId, thingToken } = await things.registry.create({})
      for (const listener of ['url', 'secureUrl', 'lenientUrl'] as const) {
        const socket = connectTo(http, listener)
        socket.write(
          `POST /v2/things/${thingToken} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${sent}`,
        )
        const answer = await closed(socket)
        expect(answer).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/)
        expect(answer).toMatch(/^connection: close\r$/im)
        expect(answer).toContain(`the body did not arrive in full in time: ${missing}`)
      }
      const noted = { reason: 'request_timeout', door: 'http', excerpt: sent }
      await expect.poll(() => things.refused.list(thingId, 9)).toMatchObject([noted, noted, noted])
    },
  )

  it('is noted for no thing where the credential is unknown', async () => {
    const { things, http } = await openDoor({ request: 300, headers: 300 })
    const { thingId } = await things.registry.create({})
    const socket = connectTo(http, 'url')
    socket.write(`POST /v2/things/${createToken()} HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{`)
    expect(await closed(socket)).toMatch(/^HTTP\/1.1 408 /)
    expect(await things.refused.list(thingId, 9)).toEqual([])
  })
})

describe('a WebSocket on which nothing is said', () => {
  it.each(['url', 'secureUrl', 'lenientUrl'] as const)('is sent pings at the %s', async listener => {
    const { http } = await openDoor({ ping: 50 })
    const url = `${http[listener]?.replace(/^http/, 'ws')}/mqtt`
    const webSocket = new WebSocket(url, 'mqtt', { ca: pair.cert })
    onTestFinished(() => webSocket.terminate())
    for (let pings = 0; pings < 3; pings++) await once(webSocket, 'ping')
    expect(webSocket.readyState).toBe(WebSocket.OPEN)
  })

  it('is sent one every 25 s, as a live stream its sign of life', () => {
    expect(httpTimeouts(5_000)).toMatchObject({ ping: 25_000 })
  })
})

describe('openTlsListener()', () => {
  it.each([
    ['says nothing', Buffer.alloc(0)],
    ['stops inside its handshake', Buffer.from('16030100ff', 'hex')],
  ])('closes a connection that %s', async (_case, bytes) => {
    const log = new CollectedLog()
    const { certificate, options } = await prepare(log)
    const listener = await openTlsListener({
      certificate,
      endpoint: { host: options.host, hostOption: 'host', port: 0, portOption: 'mqttsPort', from: String },
      allowHalfOpen: false,
      handshakeTimeout: 200,
      admit: (_socket, next) => next(),
      accept: () => expect.unreachable(),
      log: log.logger,
    })
    onTestFinished(() => listener.close())
    const socket = connectTcp(listener.address.port, listener.address.address)
    socket.write(bytes)
    await closed(socket)
    expect(log.lines(30)).toEqual([])
  })
})

async function prepare(log: CollectedLog) {
  const files = await certificateDirectory(pair)
  const certificate = await ServedCertificate.open(files, log.logger)
  onTestFinished(() => certificate.close())
  const dataDir = await temporaryDirectory()
  const ports = { httpPort: 0, mqttPort: 0, httpsPort: 0, mqttsPort: 0, lenientPort: 0 }
  return { certificate, options: completeOptions({ dataDir, ...ports }) }
}

type Listener = 'url' | 'secureUrl' | 'lenientUrl'

async function openConnection(listener: Listener, timeouts: Partial<HttpTimeouts>): Promise<Socket> {
  const { http } = await openDoor(timeouts)
  return connectTo(http, listener)
}

/** An HTTP door with these timeouts, looked at more often than in earnest. */
async function openDoor(timeouts: Partial<HttpTimeouts>): Promise<{ things: ThingsParts; http: HttpDoor }> {
  const log = new CollectedLog()
  const { certificate, options } = await prepare(log)
  const store = createLevelStore({ location: join(options.dataDir, 'store') })
  const things = await openThings({ store, adminKey: createToken() })
  const stopping = new AbortController()
  const mqtt = await openMqttServer(things, options, log.logger, stopping.signal)
  const http = await openHttpDoor(things, mqtt, options, log.logger, stopping.signal, certificate, {
    timeouts: {
      headers: long,
      request: long,
      keepAlive: long,
      ping: long,
      idle: long,
      ...timeouts,
      check: 50,
    },
  })
  onTestFinished(async () => {
    stopping.abort()
    await Promise.all([mqtt.close(), http.close()])
    await things.close()
  })
  return { things, http }
}

function connectTo(http: HttpDoor, listener: Listener): Socket {
  const { protocol, hostname: host, port } = new URL(http[listener] ?? '')
  const address = { host, port: Number(port) }
  const socket = protocol === 'https:' ? connectTls({ ...address, ca: pair.cert }) : connectTcp(address)
  onTestFinished(() => void socket.destroy())
  return socket
}

/** A byte every now and then, as long as the connection stands. */
function drip(socket: Socket): void {
  const drops = setInterval(() => socket.write('x'), 20)
  socket.once('close', () => clearInterval(drops))
}

/** Resolves with what came until the connection was closed. */
function closed(socket: Socket): Promise<string> {
  let received = ''
  socket.on('error', () => {})
  socket.on('data', part => {
    received += part
  })
  return new Promise(resolve => socket.once('close', () => resolve(received)))
}
