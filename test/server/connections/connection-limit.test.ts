import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingHttpHeaders, request } from 'node:http'
import { type AddressInfo, connect, createServer, type Server, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { Limits } from '../../../src/access/limits/limits.ts'
import { ConnectionLimit } from '../../../src/server/connections/connection-limit.ts'
import { TrustedProxies } from '../../../src/server/connections/trusted-proxies.ts'
import { createCertificate } from '../../helpers/certificate.ts'
import { type MqttClient, openMqtt } from '../../helpers/mqtt-client.ts'
import { mqttOfTest } from '../../helpers/of-test.ts'
import { type ProxiedService, startProxied } from './proxied-service.ts'

const client = '203.0.113.7'
const other = '203.0.113.8'

describe('connectionsPerAddress', () => {
  const start = () => startProxied({ trustedProxies: ['127.0.0.1'], connectionsPerAddress: 2 })

  it('holds for all doors together, and is met in the way of each', async () => {
    const service = await start()
    const mqtt = await connectFrom(service, client)
    const webSocket = await openWebSocket(service, client)
    const refused = await openFrom(service, client)
    await refused.untilClosed()
    expect(refused.received).toEqual([])
    const answers = [
      await get(`${service.url}/v2/utils/date`, { 'x-forwarded-for': client }),
      await get(`${service.url}/nothing-here`, { 'x-forwarded-for': client }),
      await upgrade(service, client),
    ]
    for (const { status, headers, body } of answers) {
      expect(status).toBe(429)
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'retry-after': expect.stringMatching(/^\d+$/),
      })
      expect(JSON.parse(body)).toMatchObject({ status: 'error', code: 429, reason: 'too_many_connections' })
    }
    expect(service.things.limits.met.get('too_many_connections')).toBe(4)
    await mqtt.ping()
    expect(webSocket.readyState).toBe(WebSocket.OPEN)
  })

  it('leaves other addresses alone', async () => {
    const service = await start()
    const mine = [await connectFrom(service, client), await connectFrom(service, client)]
    await connectFrom(service, other)
    await openWebSocket(service, other)
    for (const mqtt of mine) await mqtt.ping()
    expect(service.things.limits.met.get('too_many_connections') ?? 0).toBe(0)
  })

  it('has room again when a connection is closed, however it was made', async () => {
    const service = await start()
    const { connections } = service.things.limits
    const mqtt = await connectFrom(service, client)
    const webSocket = await openWebSocket(service, client)
    expect(connections.size).toBe(1)
    await mqtt.destroy()
    webSocket.terminate()
    await expect.poll(() => connections.size).toBe(0)
    const again = [await connectFrom(service, client), await connectFrom(service, client)]
    for (const each of again) await each.ping()
  })

  it('counts a request through a proxy while it is served, and not the connection that brings it', async () => {
    const service = await start()
    const { connections, met } = service.things.limits
    const { thingToken } = await service.things.registry.create({})
    const streams = [await openStream(service, thingToken), await openStream(service, thingToken)]
    const refused = await get(`${service.url}/v2/utils/date`, { 'x-forwarded-for': client })
    expect(refused.status).toBe(429)
    for (const stream of streams) stream.resetAndDestroy()
    await expect.poll(() => connections.size).toBe(0)
    for (let n = 0; n < 10; n++) await get(`${service.url}/v2/utils/date`, { 'x-forwarded-for': client })
    expect(met.get('too_many_connections')).toBe(1)
  })

  it('does not count what a proxy does in its own name', async () => {
    const service = await start()
    for (let n = 0; n < 5; n++) {
      const mqtt = await openMqtt({ url: service.mqttUrl })
      onTestFinished(() => mqtt.destroy())
      mqtt.sendBytes(Buffer.from('PROXY UNKNOWN\r\n'))
      await mqtt.connect()
      expect((await get(`${service.url}/healthz`, {})).status).toBe(200)
    }
    expect(service.things.limits.connections.size).toBe(0)
  })

  it('exempts the machine itself', async () => {
    const service = await startProxied({ connectionsPerAddress: 1 })
    for (const url of [service.mqttUrl, service.mqttUrl, service.webSocketUrl, service.webSocketUrl]) {
      await mqttOfTest({ url })
    }
    expect(service.things.limits.met.get('too_many_connections') ?? 0).toBe(0)
  })
})

describe('guard()', () => {
  it('answers a connection for which there is no room before anything is read of it, and closes it', async () => {
    const { limit, limits } = limitOf(1)
    const server = createHttpServer((_request, response) => response.end('served'))
    limit.guard(server)
    const port = await listen(server)
    const first = connect(port)
    await once(first, 'connect')
    first.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    expect(String((await once(first, 'data'))[0])).toMatch(/^HTTP\/1.1 200 /)
    const answer = await text(connect(port))
    expect(answer).toMatch(/^HTTP\/1.1 429 Too Many Requests\r\n/)
    expect(answer).toMatch(/\r\nRetry-After: \d+\r\n/)
    expect(answer).toMatch(/"reason":"too_many_connections"/)
    expect(limits.met.get('too_many_connections')).toBe(1)
    first.destroy()
    await expect.poll(() => limits.connections.size).toBe(0)
    expect((await get(`http://127.0.0.1:${port}/`, {})).body).toBe('served')
  })

  it('gets the answer to a client that sends without looking', async () => {
    const { limit } = limitOf(0)
    const server = createHttpServer()
    limit.guard(server)
    const socket = connect(await listen(server))
    socket.write(`POST / HTTP/1.1\r\n\r\n${'x'.repeat(500_000)}`)
    // Throws if the connection is reset.
    expect(await text(socket)).toMatch(/^HTTP\/1.1 429 /)
  })

  it('does not count again what comes through TLS, and was counted before its handshake', async () => {
    const { limit, limits } = limitOf(1)
    const http = createHttpServer((_request, response) => response.end('served'))
    limit.guard(http)
    const tls = createTlsServer(createCertificate(), socket => http.emit('connection', socket))
    const port = await listen(
      createServer(socket => limit.admit(socket, () => tls.emit('connection', socket))),
    )
    const secure = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
    secure.end('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    expect(await text(secure)).toMatch(/^HTTP\/1.1 200 /)
    await expect.poll(() => limits.connections.size).toBe(0)
  })
})

describe('admit()', () => {
  it('closes a connection for which there is no room without a word', async () => {
    const { limit, limits } = limitOf(1)
    let admitted = 0
    const server = createServer(socket => limit.admit(socket, () => admitted++))
    const port = await listen(server)
    const first = connect(port)
    await once(first, 'connect')
    expect(await text(connect(port))).toBe('')
    expect(admitted).toBe(1)
    expect(limits.met.get('too_many_connections')).toBe(1)
    first.destroy()
  })
})

describe('enterForwarded()', () => {
  it('does not count twice what came without a proxy', () => {
    const { limit, limits } = limitOf(0)
    const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: client })
    expect(limit.enterForwarded({ socket, headers: { 'x-forwarded-for': other } }, socket)).toBe(true)
    expect(limits.met.get('too_many_connections') ?? 0).toBe(0)
  })
})

describe('enter()', () => {
  it('does not count the connection of a trusted proxy', () => {
    const { limit, limits } = limitOf(0)
    expect(limit.enter('10.0.0.1', new Socket())).toBe(true)
    expect(limit.enter('11.0.0.1', new Socket())).toBe(false)
    expect(limits.connections.size).toBe(0)
  })

  it('does not count what is closed already', async () => {
    const { limit, limits } = limitOf(1)
    const socket = new Socket()
    socket.destroy()
    await once(socket, 'close')
    expect(limit.enter(client, socket)).toBe(true)
    expect(limits.connections.size).toBe(0)
  })
})

/** A limit to which every connection seems to come from one address that is not exempt. */
function limitOf(connectionsPerAddress: number) {
  const limits = new Limits({ connectionsPerAddress })
  const counts = {
    connections: { enter: () => limits.connections.enter(client) },
    count: limits.count.bind(limits),
  }
  return {
    limits,
    limit: new ConnectionLimit(counts, new TrustedProxies(['10.0.0.0/8']), { enter: () => true }),
  }
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

async function openFrom({ mqttUrl }: ProxiedService, address: string): Promise<MqttClient> {
  const mqtt = await openMqtt({ url: mqttUrl })
  onTestFinished(() => mqtt.destroy())
  mqtt.sendBytes(Buffer.from(`PROXY TCP4 ${address} 192.0.2.1 4711 1883\r\n`))
  return mqtt
}

async function connectFrom(service: ProxiedService, address: string): Promise<MqttClient> {
  const mqtt = await openFrom(service, address)
  await mqtt.connect()
  return mqtt
}

async function openWebSocket({ webSocketUrl }: ProxiedService, address: string): Promise<WebSocket> {
  const webSocket = new WebSocket(webSocketUrl, 'mqtt', { headers: { 'x-forwarded-for': address } })
  onTestFinished(() => webSocket.terminate())
  await once(webSocket, 'open')
  return webSocket
}

async function openStream({ url }: ProxiedService, thingToken: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  onTestFinished(() => void socket.destroy())
  socket.write(
    `GET /v2/things/${thingToken} HTTP/1.1\r\nAccept: text/event-stream\r\nX-Forwarded-For: ${client}\r\n\r\n`,
  )
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 200 /)
  return socket
}

interface Answer {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

function upgrade({ url }: ProxiedService, address: string): Promise<Answer> {
  return get(`${url}/mqtt`, {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-protocol': 'mqtt',
    'x-forwarded-for': address,
  })
}

async function get(url: string, headers: Record<string, string>): Promise<Answer> {
  const asking = request(url, { headers, agent: false }).end()
  const [response] = await once(asking, 'response')
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}
