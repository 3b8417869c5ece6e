import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import * as fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { createToken } from '../../../src/core/token.ts'
import { TrustedProxies } from '../../../src/server/connections/trusted-proxies.ts'
import { eventOf } from '../../helpers/event-of.ts'
import { encodePackets, MqttClient, openMqtt } from '../../helpers/mqtt-client.ts'
import { type ProxiedService, type ProxiedServiceOptions, startProxied } from './proxied-service.ts'

const client = '203.0.113.7'
const header = `PROXY TCP4 ${client} 192.0.2.1 4711 1883\r\n`
const wrongConnect = encodePackets({
  cmd: 'connect',
  clientId: 'guessing',
  clean: true,
  keepalive: 0,
  username: 'device',
  password: Buffer.from('wrong'),
})

describe('trusts()', () => {
  const proxies = new TrustedProxies(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32', '::1'])

  it.each([
    '10.0.0.0',
    '10.255.255.255',
    '::ffff:10.1.2.3',
    '192.0.2.1',
    '2001:db8:ffff::1',
    '::1',
    '0:0:0:0:0:0:0:1',
  ])('is true of %s', address => expect(proxies.trusts(address)).toBe(true))

  it.each([
    '11.0.0.0',
    '192.0.2.2',
    '2001:db9::1',
    '::2',
    '127.0.0.1',
    '',
    'localhost',
    '10.0.0',
    '10.0.0.1:80',
    'fe80::1%lo',
  ])('is false of "%s"', address => expect(proxies.trusts(address)).toBe(false))

  it('is false of everything without any', () => {
    const none = new TrustedProxies()
    for (const address of ['127.0.0.1', '::1', '10.0.0.1', undefined])
      expect(none.trusts(address)).toBe(false)
  })
})

describe('clientOf()', () => {
  const proxies = new TrustedProxies(['10.0.0.0/8', '2001:db8::/32'])
  const clientOf = (remoteAddress: string | undefined, forwarded?: string) => {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    return proxies.clientOf({ socket: { remoteAddress } as Socket, headers })
  }

  it.each([
    ['a client of its own', '198.51.100.1', undefined, '198.51.100.1'],
    ['a client that names another', '198.51.100.1', client, '198.51.100.1'],
    ['a proxy that names nobody', '10.0.0.1', undefined, '10.0.0.1'],
    ['a proxy', '10.0.0.1', client, client],
    ['a proxy in IPv6', '2001:db8::1', client, client],
    ['a client in IPv6', '10.0.0.1', '2a00::7', '2a00::7'],
    ['two proxies', '10.0.0.1', `${client}, 10.0.0.2`, client],
    ['proxies and nobody', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['a proxy, and a client that names another', '10.0.0.1', `1.2.3.4, ${client}`, client],
    [
      'a proxy, and a client that poses as proxy',
      '10.0.0.1',
      `1.2.3.4, 10.9.9.9 ,${client},10.0.0.2`,
      client,
    ],
    ['a proxy that adds the port', '10.0.0.1', `${client}:4711`, client],
    ['a proxy that adds the port in IPv6', '10.0.0.1', '[2a00::7]:4711', '2a00::7'],
    ['brackets alone', '10.0.0.1', '[2a00::7]', '2a00::7'],
    ['many blanks', '10.0.0.1', ` \t ${client} \t `, client],
    ['a word', '10.0.0.1', 'unknown', '10.0.0.1'],
    ['a word behind a proxy', '10.0.0.1', 'unknown, 10.0.0.2', '10.0.0.2'],
    ['a word before the client', '10.0.0.1', `unknown, ${client}`, client],
    ['nothing', '10.0.0.1', '', '10.0.0.1'],
    ['commas', '10.0.0.1', ',,,', '10.0.0.1'],
    ['a zone', '10.0.0.1', 'fe80::1%eth0', '10.0.0.1'],
    ['a number that is too large', '10.0.0.1', '203.0.113.256', '10.0.0.1'],
    ['a connection that is gone', undefined, client, ''],
  ])('sees through %s', (_case, socket, forwarded, expected) => {
    expect(clientOf(socket, forwarded)).toBe(expected)
  })

  it('is an address whatever the header holds', () => {
    const hop = fc.oneof(fc.string(), fc.constantFrom('10.0.0.2', client, 'unknown', '[', ']:1', ':', '%'))
    fc.assert(
      fc.property(fc.array(hop), hops => {
        expect(clientOf('10.0.0.1', hops.join(','))).toMatch(/^[0-9a-fA-F.:]+$/)
      }),
    )
  })
})

describe('behind a trusted proxy', () => {
  it('an HTTP request comes from where X-Forwarded-For says', async () => {
    const service = await startProxied({ trustedProxies: ['127.0.0.0/8'] })
    for (const forwarded of [client, `1.2.3.4, ${client}`, `${client}:4711`]) {
      expect(await failOverHttp(service, { 'x-forwarded-for': forwarded })).toBe(401)
    }
    expect(service.failed).toEqual([client, client, client])
  })

  it('garbage in X-Forwarded-For leaves the address of the proxy', async () => {
    const service = await startProxied({ trustedProxies: ['127.0.0.1'] })
    for (const forwarded of ['garbage', ', ,', '999.1.1.1', 'x'.repeat(2_000)]) {
      expect(await failOverHttp(service, { 'x-forwarded-for': forwarded })).toBe(401)
    }
    expect(new Set(service.failed)).toEqual(new Set(['127.0.0.1']))
  })

  it('a WebSocket comes from where X-Forwarded-For of its upgrade says', async () => {
    const service = await startProxied({ trustedProxies: ['127.0.0.1'] })
    await failOverWebSocket(service, { 'x-forwarded-for': `1.2.3.4, ${client}` })
    expect(service.failed).toEqual([client])
  })

  it('an MQTT connection comes from where its PROXY header says, however it is cut into pieces', async () => {
    const service = await startProxied({ trustedProxies: ['127.0.0.1'] })
    const version2 = Buffer.from('0d0a0d0a000d0a515549540a2111000ccb007107c00002011267075b', 'hex')
    const headers = fc.constantFrom(Buffer.from(header), version2)
    await fc.assert(
      fc.asyncProperty(headers, fc.array(fc.nat(90), { maxLength: 6 }), async (start, cuts) => {
        const before = service.failed.length
        const mqtt = await openPlain(service.mqttUrl)
        await sendInPieces(mqtt.stream as Socket, Buffer.concat([start, wrongConnect]), cuts)
        expect(await mqtt.next()).toMatchObject({ cmd: 'connack', returnCode: expect.any(Number) })
        await mqtt.untilClosed()
        expect(service.failed.slice(before)).toEqual([client])
      }),
      { numRuns: 40 },
    )
  })

  it('a TLS handshake follows the PROXY header, however they are cut into pieces', async () => {
    const service = await startProxied({ trustedProxies: ['127.0.0.1'] })
    for (const cuts of [[], [5], [header.length], [header.length - 1, header.length + 1]]) {
      const mqtt = await openSecure(service.mqttsUrl, header, cuts)
      mqtt.sendBytes(wrongConnect)
      expect(await mqtt.next()).toMatchObject({ cmd: 'connack' })
      await mqtt.untilClosed()
    }
    expect(service.failed).toEqual([client, client, client, client])
  })

  it.each([
    ['UNKNOWN', Buffer.from('PROXY UNKNOWN\r\n')],
    ['LOCAL', Buffer.from('0d0a0d0a000d0a515549540a20000000', 'hex')],
  ])('an MQTT connection that is %s comes from the proxy', async (_case, start) => {
    const service = await startProxied({ trustedProxies: ['127.0.0.1'] })
    const mqtt = await openPlain(service.mqttUrl)
    mqtt.sendBytes(Buffer.concat([start, wrongConnect]))
    await mqtt.untilClosed()
    expect(service.failed).toEqual(['127.0.0.1'])
  })

  it.each([
    ['no header', wrongConnect],
    [
      'a header that is malformed',
      Buffer.concat([Buffer.from(header.replace('TCP4', 'TCP5')), wrongConnect]),
    ],
    ['a second header', Buffer.concat([Buffer.from(header + header), wrongConnect])],
  ])('an MQTT connection with %s is closed unheard', async (_case, bytes) => {
    const service = await startProxied({ trustedProxies: ['127.0.0.1'] })
    const mqtt = await openPlain(service.mqttUrl)
    mqtt.sendBytes(bytes)
    await mqtt.untilClosed()
    expect(mqtt.received).toEqual([])
    expect(service.failed).toEqual([])
  })

  it('the server stops while PROXY headers are awaited', async () => {
    const service = await startProxied({ trustedProxies: ['127.0.0.1'] })
    const mqtt = await openPlain(service.mqttUrl)
    mqtt.sendBytes(Buffer.from('PROXY TCP4'))
    // Ended by the stop at the end of the test, which waits for every connection.
    expect(mqtt.stream.destroyed).toBe(false)
  })
})

describe('from anybody else', () => {
  it('X-Forwarded-For is not heard', async () => {
    const service = await startProxied({ trustedProxies: ['10.0.0.0/8'] })
    await failOverHttp(service, { 'x-forwarded-for': client })
    await failOverWebSocket(service, { 'x-forwarded-for': client })
    expect(service.failed).toEqual(['127.0.0.1', '127.0.0.1'])
  })

  const others: [string, ProxiedServiceOptions][] = [
    ['there are no trusted proxies', {}],
    ['there are others', { trustedProxies: ['10.0.0.0/8'] }],
  ]

  it.each(others)('a PROXY header closes an MQTT connection where %s', async (_case, options) => {
    const service = await startProxied(options)
    const plain = await openPlain(service.mqttUrl)
    plain.sendBytes(Buffer.concat([Buffer.from(header), wrongConnect]))
    await plain.untilClosed()
    expect(plain.received).toEqual([])
    await expect(openSecure(service.mqttsUrl, header, [])).rejects.toThrow()
    expect(service.failed).toEqual([])
  })

  it('an MQTT connection, plain or TLS, comes from the other end of its socket', async () => {
    const service = await startProxied()
    for (const mqtt of [await openPlain(service.mqttUrl), await openSecure(service.mqttsUrl, '', [])]) {
      mqtt.sendBytes(wrongConnect)
      await mqtt.untilClosed()
    }
    expect(service.failed).toEqual(['127.0.0.1', '127.0.0.1'])
  })
})

async function failOverHttp({ url }: ProxiedService, headers: Record<string, string>): Promise<number> {
  const body = '{"values":[{"key":"n","value":1}]}'
  return (await fetch(`${url}/v2/things/${createToken()}`, { method: 'POST', headers, body })).status
}

async function failOverWebSocket({ webSocketUrl }: ProxiedService, headers: Record<string, string>) {
  const webSocket = new WebSocket(webSocketUrl, 'mqtt', { headers })
  await once(webSocket, 'open')
  webSocket.send(wrongConnect)
  await eventOf(webSocket, 'close')
}

async function openPlain(url: string): Promise<MqttClient> {
  const mqtt = await openMqtt({ url })
  onTestFinished(() => mqtt.destroy())
  return mqtt
}

/** @throws Error if there is no handshake */
async function openSecure(url: string, start: string, cuts: readonly number[]): Promise<MqttClient> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  await sendInPieces(socket, Buffer.from(start), cuts)
  const secure = connectTls({ socket, rejectUnauthorized: false })
  await once(secure, 'secureConnect')
  const mqtt = new MqttClient(secure, { url })
  onTestFinished(() => mqtt.destroy())
  return mqtt
}

/** Each piece has left before the next, though the network may join them. */
async function sendInPieces(socket: Socket, bytes: Buffer, cuts: readonly number[]): Promise<void> {
  const places = [...cuts, bytes.length].sort((a, b) => a - b)
  let sent = 0
  for (const place of places) {
    if (place > sent) await new Promise(resolve => socket.write(bytes.subarray(sent, place), resolve))
    sent = Math.max(sent, place)
    await new Promise(resolve => setImmediate(resolve))
  }
}
