import { once } from 'node:events'
import { request } from 'node:https'
import { connect as connectTcp, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { connect, type PeerCertificate } from 'node:tls'
import { connectAsync, type MqttClient } from 'mqtt'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createServer } from '../../../src/server/index.ts'
import { createCertificate } from '../../helpers/certificate.ts'
import { readAll } from '../../helpers/http-client.ts'
import { serverOfTest } from '../../helpers/of-test.ts'
import { runCli } from '../../helpers/server-process.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { certificateDirectory, connectTls, startTls, type TlsService } from './tls-service.ts'

const listeners = ['httpsUrl', 'mqttsUrl'] as const

/** Unlike `once`, whether there was an error before or not. */
function closed(socket: Socket): Promise<void> {
  return new Promise(resolve => socket.once('close', () => resolve()))
}

describe('a server with tlsCert and tlsKey', () => {
  it('takes writes over https, mqtts and wss, and on the plain ports as before', async () => {
    const service = await startTls()
    const { server, thing, pair } = service
    expect(await write(service, 1, pair.cert)).toMatchObject({ status: 201 })
    const urls = [server.mqttsUrl, server.secureWebSocketUrl, server.mqttUrl, server.webSocketUrl]
    for (const [place, url] of urls.entries()) {
      const client = await connectMqtts(url, pair.cert)
      const body = JSON.stringify({ values: [{ key: 'n', value: place + 2 }] })
      await client.publishAsync(`things/${thing.thingToken}/write`, body, { qos: 1 })
    }
    const records = await readAll({ url: server.url, adminKey: server.adminKey.key }, thing, 'n')
    expect(records.map(record => record.value)).toEqual([5, 4, 3, 2, 1])
  })

  it('delivers live messages over mqtts and wss', async () => {
    const service = await startTls()
    const { server, thing, pair } = service
    const urls = { overMqtts: server.mqttsUrl, overWss: server.secureWebSocketUrl }
    for (const [key, url] of Object.entries(urls)) {
      const client = await connectMqtts(url, pair.cert)
      await client.subscribeAsync(`things/${thing.thingToken}/values/${key}`, { qos: 1 })
      const message = new Promise(resolve => client.once('message', (_topic, payload) => resolve(payload)))
      const body = JSON.stringify({ values: [{ key, value: 1 }] })
      await client.publishAsync(`things/${thing.thingToken}/write`, body, { qos: 1 })
      expect(JSON.parse(String(await message))).toMatchObject({ key, value: 1 })
    }
  })

  it('answers over https a client that closes its half right after the request', async () => {
    const service = await startTls()
    const socket = await connectTls(service.server.httpsUrl, service.pair.cert)
    const body = '{"values":[{"key":"n","value":1}]}'
    const path = `/v2/things/${service.thing.thingToken}`
    socket.end(`POST ${path} HTTP/1.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    expect(await text(socket)).toMatch(/^HTTP\/1.1 201 /)
  })

  it('answers over https what is no HTTP as on the plain port', async () => {
    const service = await startTls()
    const socket = await connectTls(service.server.httpsUrl, service.pair.cert)
    socket.end('GET / NONSENSE/9\r\n\r\n')
    const answer = await text(socket)
    expect(answer).toMatch(/^HTTP\/1.1 400 /)
    expect(answer).toContain('"reason":"bad_request"')
  })

  it.each(listeners)('refuses TLS 1.1 at its %s', async listener => {
    const { server, pair } = await startTls()
    const { hostname: host, port } = new URL(server[listener] ?? '')
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
    const socket = connect({ host, port: Number(port), ca: pair.cert, ...old })
    const [error] = await once(socket, 'error')
    expect(error).toMatchObject({ code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' })
  })

  it.each(listeners)('lives on, and logs nothing, when garbage comes to its %s', async listener => {
    const service = await startTls()
    const { server, pair, log } = service
    const { hostname, port } = new URL(server[listener] ?? '')
    const before = log.lines(30).length
    for (const garbage of [
      'GET / HTTP/1.1\r\n\r\n',
      '\x10\x00',
      '\x16\x03\x01\x00\x05hello',
      '\0'.repeat(70_000),
    ]) {
      const socket = connectTcp(Number(port), hostname)
      socket.on('error', () => {})
      socket.end(garbage)
      await closed(socket.resume())
    }
    expect(await write(service, 1, pair.cert)).toMatchObject({ status: 201 })
    expect(log.lines(30).slice(before)).toEqual([])
  })

  it('stops while connections are open on it and while one is in its handshake', async () => {
    const service = await startTls({ shutdownTimeout: 600_000 })
    const { server, pair, log } = service
    const idle = await connectTls(server.httpsUrl, pair.cert)
    const silent = await connectTls(server.mqttsUrl, pair.cert)
    const client = await connectMqtts(server.mqttsUrl, pair.cert)
    const handshakes = listeners.map(listener => {
      const { hostname, port } = new URL(server[listener] ?? '')
      return connectTcp(Number(port), hostname)
    })
    await Promise.all(handshakes.map(socket => once(socket, 'connect')))
    idle.write('GET /healthz HTTP/1.1\r\n\r\n')
    await once(idle, 'data')
    const left = [...handshakes, idle, silent].map(socket => {
      socket.on('error', () => {}).resume()
      return closed(socket)
    })
    const clientLeft = new Promise<void>(resolve => client.once('close', resolve))
    await server.close()
    await Promise.all([...left, clientLeft])
    expect(log.lines().join('')).not.toContain('cutting')
  })
})

describe('a changed certificate', () => {
  it('is served to new connections while those that stand go on', async () => {
    const service = await startTls()
    const { server, thing, pair, files, log } = service
    const mqtts = await connectMqtts(server.mqttsUrl, pair.cert)
    const wss = await connectMqtts(server.secureWebSocketUrl, pair.cert)
    const https = await connectTls(server.httpsUrl, pair.cert)

    const next = createCertificate()
    await files.replace(next)
    await log.until(/certificate has changed: new/)

    for (const listener of listeners) {
      await expect(certificateAt(server[listener], pair.cert)).rejects.toMatchObject({
        code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
      })
      expect(await certificateAt(server[listener], next.cert)).toMatchObject({
        valid_to: expect.any(String),
      })
    }
    for (const client of [mqtts, wss]) {
      const body = '{"values":[{"key":"n","value":1}]}'
      await client.publishAsync(`things/${thing.thingToken}/write`, body, { qos: 1 })
      expect(client.connected).toBe(true)
    }
    https.end('GET /healthz HTTP/1.1\r\n\r\n')
    expect(await text(https)).toMatch(/^HTTP\/1.1 200 /)
    expect(await write(service, 2, next.cert)).toMatchObject({ status: 201 })
  })
})

describe('the start with a certificate', () => {
  const pair = createCertificate()
  const quiet = { httpPort: 0, mqttPort: 0, logLevel: 'silent' } as const

  it.each([
    ['of which one half is missing', async () => ({ tlsCert: 'cert.pem' }), /tlsKey/],
    [
      'whose file is missing',
      async () => ({ tlsCert: 'no-such.pem', tlsKey: 'no-such.pem' }),
      /tlsCert.*no-such/,
    ],
    ['that is none', () => certificateDirectory({ ...pair, cert: 'text' }), /tlsCert .*cert\.pem/],
    ['whose key is none', () => certificateDirectory({ ...pair, key: 'text' }), /tlsKey .*key\.pem/],
    [
      'whose key is that of another',
      () => certificateDirectory({ ...pair, key: createCertificate().key }),
      /tlsKey .*tlsCert/,
    ],
    [
      'that has expired',
      () => certificateDirectory(createCertificate({ clock: '-2d' })),
      /tlsCert .*expired/,
    ],
  ])('%s fails with a line that names the option', async (_case, prepare, line) => {
    const { tlsCert, tlsKey } = { tlsKey: undefined, ...(await prepare()) }
    const dataDir = await temporaryDirectory()
    const files = { tlsCert, ...(tlsKey !== undefined && { tlsKey }) }
    const error = await createServer({ dataDir, ...quiet, ...files }).catch(problem => problem)
    expect(error).toBeInstanceOf(Error)
    expect(error.message).toMatch(line)
    expect(error.message).not.toContain('\n')
    expect(error.message).not.toContain('PRIVATE')
  })

  it('that cannot be read ends the command with 1 and one line', async () => {
    const dataDir = await temporaryDirectory()
    const { code, stderr } = await runCli({
      args: ['--data-dir', dataDir, '--tls-cert', 'no-such.pem', '--tls-key', 'no-such.pem'],
    })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^thingwire: cannot read tlsCert: .*no-such\.pem'?\n$/)
  })

  it('takes a port in use for what it is, and leaves nothing open', async () => {
    const { server, files } = await startTls()
    const { port } = new URL(server.httpsUrl ?? '')
    const { tlsCert, tlsKey } = files
    const dataDir = await temporaryDirectory()
    const options = { ...quiet, dataDir, tlsCert, tlsKey, mqttsPort: 0 }
    await expect(createServer({ ...options, httpsPort: Number(port) })).rejects.toThrow(
      new RegExp(`port ${port} \\(httpsPort in .*\\) on .* --https-port `),
    )
    const second = await createServer({ ...options, httpsPort: 0 })
    await second.close()
  })

  it('says where it serves TLS, on tlsHost', async () => {
    const { tlsCert, tlsKey } = await certificateDirectory(pair)
    const server = await serverOfTest({
      args: ['--tls-host', '127.0.0.2', '--https-port', '0', '--mqtts-port', '0'],
      environment: { THINGWIRE_TLS_CERT: tlsCert, THINGWIRE_TLS_KEY: tlsKey },
    })
    expect(server.url).toContain('//127.0.0.1:')
    const { stdout, code } = await server.stop()
    expect(code).toBe(0)
    const place = '127\\.0\\.0\\.2:\\d+'
    expect(stdout).toMatch(
      new RegExp(`^With TLS: https://${place}, mqtts://${place}, wss://${place}/mqtt$`, 'm'),
    )
  })
})

/** mqtt.js, over `mqtts` or `wss`. */
async function connectMqtts(url: string | undefined, ca: string): Promise<MqttClient> {
  const client = await connectAsync(url ?? '', { ca, reconnectPeriod: 0 }, false)
  onTestFinished(() => client.endAsync(true))
  return client
}

async function certificateAt(url: string | undefined, ca: string): Promise<PeerCertificate> {
  const socket = await connectTls(url, ca)
  return socket.getPeerCertificate()
}

/** Writes a number over https. */
function write({ server, thing }: TlsService, value: number, ca: string) {
  return new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    const url = `${server.httpsUrl}/v2/things/${thing.thingToken}`
    const sent = request(url, { method: 'POST', ca, agent: false }, answer => {
      text(answer).then(body => resolve({ status: answer.statusCode, body }), reject)
    })
    sent.on('error', reject)
    sent.end(JSON.stringify({ values: [{ key: 'n', value }] }))
  })
}
