import { connect as connectTcp, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createToken } from '../../src/core/token.ts'
import { openHttpDoor } from '../../src/server/http-door.ts'
import { httpTimeouts } from '../../src/server/http-server.ts'
import { completeOptions } from '../../src/server/load-options.ts'
import { openMqttDoor } from '../../src/server/mqtt-door.ts'
import { ServedCertificate } from '../../src/server/served-certificate.ts'
import { openTlsListener } from '../../src/server/tls-listener.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { createThings } from '../../src/things.ts'
import { createCertificate } from '../helpers/certificate.ts'
import { CollectedLog } from '../helpers/collected-log.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { CertificateDirectory } from './tls-service.ts'

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
    expect(await closed(socket)).toMatch(/^(HTTP\/1.1 400 .*"reason":"bad_request".*)?$/s)
  })

  it('closes a connection whose request body comes drop by drop', async () => {
    const socket = await openConnection(listener, { headers: 300, request: 600 })
    socket.write(`POST /v2/things HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n{"activationCode":"`)
    drip(socket)
    expect(await closed(socket)).toMatch(/^(HTTP\/1.1 400 .*"reason":"bad_request".*)?$/s)
  })

  it('closes a connection whose second request does not come to an end', async () => {
    const socket = await openConnection(listener, { headers: 300, request: long })
    socket.write('GET /healthz HTTP/1.1\r\n\r\nGET /healthz HTTP/1.1\r\nX-Slow: ')
    drip(socket)
    expect(await closed(socket)).toMatch(/^HTTP\/1.1 200 /)
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
      endpoint: { host: options.host, hostOption: 'host', port: 0, portOption: 'mqttsPort' },
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
  const files = await CertificateDirectory.create(pair)
  const certificate = await ServedCertificate.open(files, log.logger)
  onTestFinished(() => certificate.close())
  const dataDir = await temporaryDirectory()
  const ports = { httpPort: 0, mqttPort: 0, httpsPort: 0, mqttsPort: 0, lenientPort: 0 }
  return { certificate, options: completeOptions({ dataDir, ...ports }) }
}

/** A connection to an HTTP door with these timeouts, looked at more often than in earnest. */
async function openConnection(
  listener: 'url' | 'secureUrl' | 'lenientUrl',
  timeouts: { readonly headers: number; readonly request: number },
): Promise<Socket> {
  const log = new CollectedLog()
  const { certificate, options } = await prepare(log)
  const store = createLevelStore({ location: join(options.dataDir, 'store') })
  const things = await createThings({ store, adminKey: createToken() })
  const stopping = new AbortController()
  const mqtt = await openMqttDoor(things, options, log.logger, stopping.signal)
  const http = await openHttpDoor(things, mqtt, options, log.logger, stopping.signal, certificate, {
    timeouts: { ...timeouts, check: 50, keepAlive: long, idle: long },
  })
  onTestFinished(async () => {
    stopping.abort()
    await Promise.all([mqtt.close(), http.close()])
    await things.close()
  })
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
